/** From the hub's request to Gemini's: https://ai.google.dev/api/generate-content (2026-11). */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { readAnswerFormat } from './answer-format.ts'
import type { RenderedRequest, RenderTarget } from './dialect.ts'
import { unsupported } from './failure.ts'
import { inputSchema, readToolChoice, type ToolChoice } from './function-tools.ts'
import { type GeminiTraits, geminiTraits } from './gemini-models.ts'
import { askedThinking } from './gemini-thinking.ts'
import { renderConversation } from './gemini-turns.ts'
import { knownFields, refuseUnknown } from './request-fields.ts'

type Body = Record<string, unknown>

/**
 * Read below, save what is left out because the answer is the same kind of answer without it:
 *
 * | fields | why |
 * |---|---|
 * | `parallel_tool_calls: false` | no such switch; calls may come together |
 * | `user`, `safety_identifier`, `metadata` | no place for them |
 * | `cache_control` of parts | prompts are cached without being marked |
 * | penalties on 2.5 and later | the models refuse them |
 */
const known = knownFields([
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'reasoning_effort',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'stop',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'logprobs',
  'top_logprobs',
  'user',
  'safety_identifier',
  'metadata',
  'safety_settings',
  'cache_control',
])

const renderTool = (tool: Fields, at: number): Fields => {
  if (tool.type !== 'function')
    throw unsupported(`tools[${at}].type`, 'The provider takes only tools of type function.')
  const { name, description, parameters } = fieldsOf(tool.function)
  const declaration: Body = { name }
  if (textOf(description) !== '') declaration.description = description
  if (isFields(parameters)) declaration.parametersJsonSchema = inputSchema(parameters)
  return declaration
}

const modes = { auto: 'AUTO', any: 'ANY', tool: 'ANY', none: 'NONE' } as const

const renderChoice = ({ mode, name }: ToolChoice): Fields => {
  const config: Body = { mode: modes[mode] }
  if (name !== undefined) config.allowedFunctionNames = [name]
  return { functionCallingConfig: config }
}

const writeTools = (body: Body, chat: ChatRequest): void => {
  const choice = readToolChoice(chat.tool_choice)
  const declarations = (chat.tools ?? [])
    .map(renderTool)
    .filter(({ name }) => choice.only?.has(textOf(name)) !== false)
  if (declarations.length === 0) return
  body.tools = [{ functionDeclarations: declarations }]
  // Left out, it is auto.
  if (choice.mode !== 'auto' || chat.tool_choice === 'auto') body.toolConfig = renderChoice(choice)
}

const writeFormat = (config: Body, chat: ChatRequest): void => {
  const format = readAnswerFormat(chat.response_format)
  if (format === null) return
  config.responseMimeType = 'application/json'
  if (format !== 'json') config.responseJsonSchema = format
}

const writeSampling = (config: Body, chat: ChatRequest, traits: GeminiTraits): void => {
  const { temperature, top_p, top_k, seed, frequency_penalty, presence_penalty } = chat
  if (typeof temperature === 'number') config.temperature = temperature
  if (typeof top_p === 'number') config.topP = top_p
  if (typeof top_k === 'number') config.topK = top_k
  // The API's seeds have 32 bits; any others are folded into them, the same into the same.
  if (typeof seed === 'number') config.seed = Math.trunc(seed) | 0
  if (!traits.takesPenalties) return
  if (typeof frequency_penalty === 'number') config.frequencyPenalty = frequency_penalty
  if (typeof presence_penalty === 'number') config.presencePenalty = presence_penalty
}

const writeLogprobs = (config: Body, chat: ChatRequest): void => {
  if (chat.logprobs !== true) return
  config.responseLogprobs = true
  if (typeof chat.top_logprobs === 'number' && chat.top_logprobs > 0)
    config.logprobs = chat.top_logprobs
}

const generationConfig = (chat: ChatRequest, most: number | null, traits: GeminiTraits): Body => {
  const config: Body = {}
  const caps = [chat.max_completion_tokens, chat.max_tokens, most].filter(
    cap => typeof cap === 'number',
  )
  if (caps.length > 0) config.maxOutputTokens = Math.min(...caps)
  writeSampling(config, chat, traits)
  const stop: unknown[] = Array.isArray(chat.stop) ? chat.stop : [chat.stop]
  const stopSequences = stop.filter(one => typeof one === 'string' && one !== '')
  if (stopSequences.length > 0) config.stopSequences = stopSequences
  if (typeof chat.n === 'number' && chat.n > 1) config.candidateCount = chat.n
  writeLogprobs(config, chat)
  writeFormat(config, chat)
  const thinkingConfig = askedThinking(chat, traits)
  if (thinkingConfig !== null) config.thinkingConfig = thinkingConfig
  return config
}

export const renderRequest = (chat: ChatRequest, target: RenderTarget): RenderedRequest => {
  refuseUnknown(chat, known)
  const traits = geminiTraits(target.upstreamModel)
  const { system, contents } = renderConversation(chat.messages, traits)
  const body: Body = { contents }
  if (system.length > 0) body.systemInstruction = { parts: system }
  writeTools(body, chat)
  if (Array.isArray(chat.safety_settings)) body.safetySettings = chat.safety_settings
  const config = generationConfig(chat, target.maxOutputTokens, traits)
  if (Object.keys(config).length > 0) body.generationConfig = config
  const method = chat.stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return {
    path: `/models/${encodeURIComponent(target.upstreamModel)}:${method}`,
    body: JSON.stringify(body),
  }
}
