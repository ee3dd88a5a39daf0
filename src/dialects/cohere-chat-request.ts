/** From the hub's request to Cohere's: https://docs.cohere.com/reference/chat (2026-11). */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { readAnswerFormat } from './answer-format.ts'
import { renderConversation } from './cohere-chat-messages.ts'
import type { RenderedRequest, RenderTarget } from './dialect.ts'
import { unsupported } from './failure.ts'
import { inputSchema, readToolChoice } from './function-tools.ts'
import { knownFields, refuseUnknown } from './request-fields.ts'

type Body = Record<string, unknown>

/** Cohere's own, for clients that know it. */
const own = ['documents', 'citation_options', 'safety_mode', 'strict_tools']

const known = knownFields([
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'stop',
  'temperature',
  'top_p',
  'top_k',
  'logprobs',
  'user',
  'safety_identifier',
  'metadata',
  'cache_control',
  ...own,
])

const within = (value: number, least: number, most: number): number =>
  Math.min(Math.max(value, least), most)

/** Sampling is a wish: it is bounded to what is taken here. */
const writeSampling = (body: Body, chat: ChatRequest): void => {
  const { temperature, top_p, top_k, seed, frequency_penalty, presence_penalty } = chat
  if (typeof temperature === 'number') body.temperature = within(temperature, 0, 1)
  if (typeof top_p === 'number') body.p = within(top_p, 0.01, 0.99)
  if (typeof top_k === 'number') body.k = within(top_k, 0, 500)
  if (typeof seed === 'number' && seed >= 0) body.seed = seed
  if (typeof frequency_penalty === 'number')
    body.frequency_penalty = within(frequency_penalty, 0, 1)
  if (typeof presence_penalty === 'number') body.presence_penalty = within(presence_penalty, 0, 1)
}

const renderTool = (tool: Fields, at: number): Fields => {
  if (tool.type !== 'function')
    throw unsupported(`tools[${at}].type`, 'The provider takes only tools of type function.')
  const { name, description, parameters } = fieldsOf(tool.function)
  const shown = textOf(description) === '' ? { name } : { name, description }
  return { type: 'function', function: { ...shown, parameters: inputSchema(parameters) } }
}

const nameOf = (tool: Fields): string => textOf(fieldsOf(tool.function).name)

/** There is no choice by name: a tool that must be called is the only one shown. */
const writeTools = (body: Body, chat: ChatRequest): void => {
  const choice = readToolChoice(chat.tool_choice)
  const asked: readonly Fields[] = chat.tools ?? []
  const tools = asked
    .map(renderTool)
    .filter(tool => choice.only?.has(nameOf(tool)) !== false)
    .filter(tool => choice.name === undefined || choice.name === nameOf(tool))
  if (tools.length === 0) return
  if (chat.parallel_tool_calls === false)
    throw unsupported('parallel_tool_calls', 'The provider may call several tools at once.')
  body.tools = tools
  if (choice.mode === 'none') body.tool_choice = 'NONE'
  else if (choice.mode !== 'auto') body.tool_choice = 'REQUIRED'
  if (asked.every(tool => fieldsOf(tool.function).strict === true)) body.strict_tools = true
}

const writeFormat = (body: Body, chat: ChatRequest): void => {
  const format = readAnswerFormat(chat.response_format)
  if (format === null) return
  body.response_format =
    format === 'json' ? { type: 'json_object' } : { type: 'json_object', json_schema: format }
}

/** On or off, and a budget; efforts between are not told apart. */
const thinkingOf = (chat: ChatRequest): Fields | null => {
  if (isFields(chat.thinking)) return chat.thinking
  const reasoning = fieldsOf(chat.reasoning)
  const effort = textOf(reasoning.effort) || textOf(chat.reasoning_effort)
  if (typeof reasoning.max_tokens === 'number')
    return { type: 'enabled', token_budget: reasoning.max_tokens }
  if (effort === 'none' || reasoning.enabled === false) return { type: 'disabled' }
  return effort === '' && reasoning.enabled !== true ? null : { type: 'enabled' }
}

const maxStops = 5

const stopSequences = (stop: unknown): string[] => {
  const sequences = (Array.isArray(stop) ? stop : [stop]).filter(one => typeof one === 'string')
  if (sequences.length > maxStops)
    throw unsupported('stop', `The provider takes up to ${maxStops} stop sequences.`)
  return sequences
}

const writeOutputCap = (body: Body, chat: ChatRequest, most: number | null): void => {
  const caps = [chat.max_completion_tokens, chat.max_tokens, most]
  const named = caps.filter(cap => typeof cap === 'number')
  if (named.length > 0) body.max_tokens = Math.min(...named)
}

export const renderRequest = (chat: ChatRequest, target: RenderTarget): RenderedRequest => {
  refuseUnknown(chat, known)
  const { messages, documents } = renderConversation(chat.messages)
  const body: Body = { model: target.upstreamModel, messages }
  if (chat.stream === true) body.stream = true
  for (const field of own) if (chat[field]) body[field] = chat[field]
  if (documents.length > 0)
    body.documents = [...documents, ...(Array.isArray(chat.documents) ? chat.documents : [])]
  writeTools(body, chat)
  writeFormat(body, chat)
  writeOutputCap(body, chat, target.maxOutputTokens)
  writeSampling(body, chat)
  const stop = stopSequences(chat.stop)
  if (stop.length > 0) body.stop_sequences = stop
  if (chat.logprobs === true) body.logprobs = true
  const thinking = thinkingOf(chat)
  if (thinking !== null) body.thinking = thinking
  return { path: '/v2/chat', body: JSON.stringify(body) }
}
