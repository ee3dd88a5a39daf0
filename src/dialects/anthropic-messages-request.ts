/** From the hub's request to Anthropic's: https://platform.claude.com/docs/en/api/messages (2026-11). */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { isBlank } from './anthropic-messages-content.ts'
import { renderTools, type ToolFields } from './anthropic-messages-tools.ts'
import { renderConversation, type Turn } from './anthropic-messages-turns.ts'
import { type ClaudeTraits, claudeTraits } from './claude-models.ts'
import { askedThinking, type Thinking } from './claude-thinking.ts'
import type { RenderedRequest, RenderTarget } from './dialect.ts'
import { unsupported } from './failure.ts'
import { knownFields, refuseUnknown } from './request-fields.ts'

type Body = Record<string, unknown>

/** Read below. */
const read = [
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
  'user',
  'safety_identifier',
  'metadata',
  'cache_control',
]

const known = knownFields(read)

const maxTokensOf = (chat: ChatRequest, most: number | null, traits: ClaudeTraits): number =>
  Math.min(
    chat.max_completion_tokens ?? chat.max_tokens ?? traits.defaultMaxTokens,
    chat.max_tokens ?? Number.MAX_SAFE_INTEGER,
    most ?? Number.MAX_SAFE_INTEGER,
    traits.maxOutputTokens ?? Number.MAX_SAFE_INTEGER,
  )

const stopSequences = (stop: unknown): string[] => {
  const sequences = (Array.isArray(stop) ? stop : [stop]).filter(one => typeof one === 'string')
  if (sequences.some(isBlank))
    throw unsupported('stop', 'The provider takes no stop sequence of white space alone.')
  return sequences
}

/** Sampling is a wish: what the model can't do is bounded (temperature ends at 1 here) or left out. */
const writeSampling = (body: Body, chat: ChatRequest, traits: ClaudeTraits): void => {
  if (!traits.takesSampling) return
  const { temperature, top_p, top_k } = chat
  if (typeof temperature === 'number') body.temperature = Math.min(temperature, 1)
  if (typeof top_p === 'number' && !(traits.oneOfSampling && body.temperature !== undefined))
    body.top_p = top_p
  if (typeof top_k === 'number') body.top_k = top_k
}

/** A call of a tool must not be answered for by a turn without the reasoning that led to it, or the API refuses. */
const lacksThinking = (turns: readonly Turn[]): boolean => {
  const answer = turns.findLast(({ role }) => role === 'assistant')?.content ?? []
  return answer.some(({ type }) => type === 'tool_use') && !/thinking$/.test(answer[0]?.type ?? '')
}

const isThinking = ({ thinking }: Thinking): boolean =>
  thinking !== null && thinking.type !== 'disabled'

/** A forced tool excludes reasoning: that the tool is called is a promise, how much to reason a wish. */
const allowedThinking = (asked: Thinking, tools: ToolFields, turns: readonly Turn[]): Thinking => {
  if (!isThinking(asked)) return asked
  const choice = tools.tool_choice?.type
  const excluded =
    choice === 'any' ||
    choice === 'tool' ||
    (asked.thinking?.type === 'enabled' && lacksThinking(turns))
  return excluded ? { ...asked, thinking: null } : asked
}

const maxUserLength = 512

const userOf = (chat: ChatRequest): string =>
  textOf(chat.user) || textOf(chat.safety_identifier) || textOf(fieldsOf(chat.metadata).user_id)

const outputConfig = (effort: string | null, format: Fields | undefined): Body => ({
  ...(effort === null ? {} : { effort }),
  ...(format === undefined ? {} : { format }),
})

const headers = { 'anthropic-version': '2023-06-01' }

export const renderRequest = (chat: ChatRequest, target: RenderTarget): RenderedRequest => {
  refuseUnknown(chat, known)
  const traits = claudeTraits(target.upstreamModel)
  const max_tokens = maxTokensOf(chat, target.maxOutputTokens, traits)
  const { system, turns } = renderConversation(chat.messages)
  const tools = renderTools(chat, traits)
  const asked = allowedThinking(askedThinking(chat, traits, max_tokens), tools, turns)

  const body: Body = { model: target.upstreamModel, max_tokens }
  if (system.length > 0) body.system = system
  body.messages = turns
  if (chat.stream === true) body.stream = true
  if (tools.tools) body.tools = tools.tools
  if (tools.tool_choice) body.tool_choice = tools.tool_choice
  if (asked.thinking !== null) body.thinking = asked.thinking
  const config = outputConfig(asked.effort, tools.format)
  if (Object.keys(config).length > 0) body.output_config = config
  const stop = stopSequences(chat.stop)
  if (stop.length > 0) body.stop_sequences = stop
  if (!isThinking(asked)) writeSampling(body, chat, traits)
  const user = userOf(chat)
  if (user !== '') body.metadata = { user_id: user.slice(0, maxUserLength) }
  if (chat.cache_control) body.cache_control = chat.cache_control
  return { path: '/v1/messages', headers, body: JSON.stringify(body) }
}
