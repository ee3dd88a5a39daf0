/** From the hub's request to OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses (2026-11). */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import type { RenderedRequest, RenderTarget } from './dialect.ts'
import { unsupported } from './failure.ts'
import { effortFor, encryptsReasoning, takesSampling } from './openai-models.ts'
import { renderInput } from './openai-responses-input.ts'
import { renderToolChoice, renderTools } from './openai-responses-tools.ts'
import { knownFields, refuseUnknown } from './request-fields.ts'

type Body = Record<string, unknown>

/** Taken as the client wrote them. */
const passed = [
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'safety_identifier',
  'top_logprobs',
  'user',
]

/** Read below. */
const read = [
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'reasoning_effort',
  'tools',
  'tool_choice',
  'response_format',
  'temperature',
  'top_p',
  'logprobs',
]

const known = knownFields([...read, ...passed])

/** The API takes no maximum below this one. */
const leastOutputTokens = 16

const outputCap = (chat: ChatRequest, most: number | null): number | null => {
  const asked = [chat.max_completion_tokens, chat.max_tokens, most].filter(
    cap => typeof cap === 'number',
  )
  if (asked.length === 0) return null
  const cap = Math.min(...asked)
  if (cap >= leastOutputTokens) return cap
  const param = chat.max_tokens ? 'max_tokens' : 'max_completion_tokens'
  throw unsupported(param, `The provider takes no maximum below ${leastOutputTokens} tokens.`)
}

/** Raises `unsupported_parameter`. */
const textFormat = (format: ChatRequest['response_format']): Fields | null => {
  if (!format) return null
  if (format.type === 'text' || format.type === 'json_object') return { type: format.type }
  if (format.type !== 'json_schema')
    throw unsupported('response_format.type', 'Ask for text, json_object or json_schema.')
  const { name, description, schema, strict } = fieldsOf(format.json_schema)
  return {
    type: 'json_schema',
    name,
    ...(textOf(description) === '' ? {} : { description }),
    schema: schema ?? {},
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
}

const textOptions = (chat: ChatRequest): Fields | null => {
  const format = textFormat(chat.response_format)
  const { verbosity } = chat
  if (typeof verbosity !== 'string') return format && { format }
  return format ? { format, verbosity } : { verbosity }
}

const askedEffort = ({ reasoning, reasoning_effort: effort }: ChatRequest): string | null => {
  if (typeof reasoning?.max_tokens === 'number')
    throw unsupported(
      'reasoning.max_tokens',
      'The provider takes no reasoning budget in tokens; ask by `reasoning.effort`.',
    )
  return reasoning?.effort ?? (textOf(effort) || null)
}

/**
 * A summary is what can be shown of the reasoning. OpenAI makes one only for organisations that it has verified, so it
 * is asked for only where the client speaks of `reasoning` and wants to see it.
 */
const summaryOf = ({ reasoning }: ChatRequest, effort: string | null): string | null => {
  if (!reasoning || reasoning.exclude === true || effort === 'none') return null
  return textOf(reasoning.summary) || 'auto'
}

const reasoningOptions = (chat: ChatRequest, model: string, asked: string | null): Fields => ({
  ...(asked === null ? {} : { effort: effortFor(model, asked) }),
  ...(encryptsReasoning(model) && summaryOf(chat, asked) !== null
    ? { summary: summaryOf(chat, asked) }
    : {}),
})

const included = (chat: ChatRequest, model: string): string[] => [
  ...(encryptsReasoning(model) ? ['reasoning.encrypted_content'] : []),
  ...(chat.logprobs === true ? ['message.output_text.logprobs'] : []),
]

/** Left out where the model refuses it: chance is a wish, as on every other provider. */
const writeSampling = (body: Body, { temperature, top_p }: ChatRequest): void => {
  if (typeof temperature === 'number') body.temperature = temperature
  if (typeof top_p === 'number') body.top_p = top_p
}

export const renderRequest = (chat: ChatRequest, target: RenderTarget): RenderedRequest => {
  refuseUnknown(chat, known)
  const model = target.upstreamModel
  // Nothing is kept by the provider: what it must know again comes back with the next request.
  const body: Body = { model, input: renderInput(chat.messages), store: false }
  if (chat.stream === true) body.stream = true
  for (const field of passed) {
    const value = chat[field]
    if (value !== null && value !== undefined) body[field] = value
  }
  const tools = renderTools(chat)
  if (tools.length > 0) body.tools = tools
  const choice = tools.length > 0 ? renderToolChoice(chat.tool_choice) : undefined
  if (choice !== undefined) body.tool_choice = choice
  const include = included(chat, model)
  if (include.length > 0) body.include = include
  const effort = askedEffort(chat)
  const reasoning = reasoningOptions(chat, model, effort)
  if (Object.keys(reasoning).length > 0) body.reasoning = reasoning
  const text = textOptions(chat)
  if (text !== null) body.text = text
  const cap = outputCap(chat, target.maxOutputTokens)
  if (cap !== null) body.max_output_tokens = cap
  if (takesSampling(model, effort)) writeSampling(body, chat)
  return { path: '/responses', body: JSON.stringify(body) }
}
