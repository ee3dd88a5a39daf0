/** From our request to an upstream's. Written anew from what was parsed, so that both sides read the same fields. */
import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'
import type { Quirks } from './chat-completions-quirks.ts'
import type { RenderedRequest, RenderTarget } from './dialect.ts'

type Body = Record<string, unknown>
export type RequestRenderer = (chat: ChatRequest, target: RenderTarget) => RenderedRequest

/** Ours, or written by `render` itself. */
const written = [
  'model',
  'models',
  'provider',
  'usage',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
]

const unsupported = (param: string, message: string): GatewayError =>
  new GatewayError('unsupported_parameter', message, { param })

/** Made once per provider, so that a request only looks up. */
export const makeRequestRenderer = (quirks: Quirks): RequestRenderer => {
  const path = quirks.path ?? '/chat/completions'
  const left = new Set([...written, ...(quirks.drops ?? [])])
  const refused = new Set(quirks.refuses ?? [])
  const renamed = new Map(Object.entries(quirks.renames ?? {}))
  const dropsFromMessages = new Set(quirks.dropsFromMessages ?? [])
  const streamOptions = quirks.drops?.includes('stream_options') !== true

  return (chat, target) => {
    const body: Body = { model: target.upstreamModel }
    for (const key in chat) {
      if (left.has(key)) continue
      const value = chat[key]
      if (refused.has(key) && isSet(value))
        throw unsupported(key, `The provider does not support \`${key}\`.`)
      body[renamed.get(key) ?? key] = value
    }
    if (dropsFromMessages.size > 0) body.messages = withoutFields(chat.messages, dropsFromMessages)
    if (chat.stream === true) {
      body.stream = true
      if (streamOptions) body.stream_options = { ...chat.stream_options, include_usage: true }
    }
    writeOutputCap(body, chat, target.maxOutputTokens, quirks.outputCap)
    if (chat.reasoning) writeReasoning(body, chat.reasoning, quirks.reasoning ?? 'reasoning_effort')
    return { path, body: JSON.stringify(body) }
  }
}

/** Whether a field asks for anything: SDKs send many as null or false. */
const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== false

const writeOutputCap = (
  body: Body,
  chat: ChatRequest,
  most: number | null,
  only: Quirks['outputCap'],
): void => {
  const asked = [chat.max_completion_tokens, chat.max_tokens, most].filter(
    cap => typeof cap === 'number',
  )
  if (asked.length === 0) return
  const own =
    typeof chat.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens'
  body[only ?? own] = Math.min(...asked)
}

const writeReasoning = (
  body: Body,
  reasoning: NonNullable<ChatRequest['reasoning']>,
  manner: NonNullable<Quirks['reasoning']>,
): void => {
  if (manner === 'reasoning') {
    body.reasoning = reasoning
    return
  }
  if (typeof reasoning.max_tokens === 'number') {
    throw unsupported(
      'reasoning.max_tokens',
      'The provider takes no reasoning budget in tokens; ask by `reasoning.effort`.',
    )
  }
  const { effort } = reasoning
  if (!effort) return
  if (manner === 'reasoning_effort') body.reasoning_effort ??= effort
  else if (manner === 'thinking')
    body.thinking ??= { type: effort === 'none' ? 'disabled' : 'enabled' }
  else if (manner === 'enable_thinking') body.enable_thinking ??= effort !== 'none'
  else if (effort !== 'none')
    throw unsupported('reasoning.effort', 'The provider does not take a reasoning effort.')
}

const withoutFields = (messages: ChatRequest['messages'], names: ReadonlySet<string>): unknown[] =>
  messages.map(message => {
    if (message.role !== 'assistant') return message
    const kept: Body = {}
    for (const key in message) if (!names.has(key)) kept[key] = message[key]
    return kept
  })
