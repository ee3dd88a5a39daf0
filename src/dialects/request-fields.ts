/** Which fields of a request a format can't honour, for formats that don't take OpenAI's own. */
import type { ChatRequest } from '../wire/chat.ts'
import { isSet } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

/** The gateway's own, or the same for every format. */
const gatewayFields = [
  'model',
  'models',
  'provider',
  'usage',
  'stream',
  'stream_options',
  'service_tier',
]

/**
 * Left out. They guide chance, speed or bookkeeping, and the answer is the same kind of answer without them:
 *
 * | fields | why |
 * |---|---|
 * | `seed`, penalties, `min_p`, `top_a` | no such sampling here |
 * | `prediction`, `prompt_cache_*` | speed; caching is asked for by `cache_control` |
 * | `verbosity` | a wish about length |
 * | `store`, `session_id`, `transforms`, `route` | kept or done by others |
 * | `include_reasoning` | reasoning always comes; `reasoning.exclude` hides it |
 * | `metadata` save `user_id`; `name` of a message | no place for them |
 * | `service_tier` | only the default is sold |
 */
const hints = [
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'min_p',
  'top_a',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'verbosity',
  'store',
  'session_id',
  'transforms',
  'route',
  'include_reasoning',
]

/** The fields that a dialect reads, and those that it may leave out. Made once, at start. */
export const knownFields = (read: readonly string[]): ReadonlySet<string> =>
  new Set([...gatewayFields, ...read, ...hints])

const isHarmless = (field: string, value: unknown): boolean => {
  if (!isSet(value)) return true
  if (field === 'n') return value === 1
  if (field === 'modalities') return Array.isArray(value) && value.every(one => one === 'text')
  if (field === 'top_logprobs') return value === 0
  return typeof value === 'object' && Object.keys(value ?? {}).length === 0
}

/** Raises `unsupported_parameter` for what is set, isn't known, and so might change the answer. */
export const refuseUnknown = (chat: ChatRequest, known: ReadonlySet<string>): void => {
  for (const field in chat)
    if (!known.has(field) && !isHarmless(field, chat[field]))
      throw unsupported(field, `The provider does not support \`${field}\`.`)
}
