/** Usage of a chat-completions answer, turned into our disjoint classes. Refuses to guess: what doesn't add up is null. */
import type { Usage } from '../wire/usage.ts'

export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = {}

/** Same bound as for what a client may ask: no real count comes near, and no price overflows below it. */
const maxCount = 100_000_000

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : noFields)

/** A count: 0 where absent, -1 where it is not one. */
const count = (value: unknown): number => {
  if (value === undefined || value === null) return 0
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxCount
    ? value
    : -1
}

const firstCount = (...values: unknown[]): number => {
  for (const value of values) if (value !== undefined && value !== null) return count(value)
  return 0
}

/**
 * - Cached tokens are a part of `prompt_tokens`. Where: `prompt_tokens_details.cached_tokens` (OpenAI and most),
 *   `prompt_cache_hit_tokens` (DeepSeek), `cached_tokens` (Together), `num_cached_tokens` (Mistral). So are
 *   `cache_write_tokens` (OpenAI, OpenRouter).
 * - xAI leaves reasoning out of `completion_tokens`, Mistral leaves audio out of `prompt_tokens`; `total_tokens`
 *   tells. An excess of the total that nothing explains is not charged.
 * - Some report more cached tokens than prompt tokens (Grok at Azure), or more reasoning than completion: the larger
 *   whole bounds its part, so that no token is counted twice.
 *
 * Measured on the recorded traffic; see the tests. `null` where a count is missing, negative, fractional or absurd:
 * then nothing was reported that can be charged, and the gateway counts.
 */
export const parseUsage = (reported: unknown, feePerRequest: boolean): Usage | null => {
  const usage = fieldsOf(reported)
  if (usage.prompt_tokens == null || usage.completion_tokens == null) return null
  const inputDetails = fieldsOf(usage.prompt_tokens_details)
  const outputDetails = fieldsOf(usage.completion_tokens_details)
  let prompt = count(usage.prompt_tokens)
  let completion = count(usage.completion_tokens)
  const cached = firstCount(
    inputDetails.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.cached_tokens,
    usage.num_cached_tokens,
  )
  const written = firstCount(inputDetails.cache_write_tokens, usage.cache_creation_input_tokens)
  const audioIn = count(inputDetails.audio_tokens)
  const audioOut = count(outputDetails.audio_tokens)
  const reasoning = firstCount(outputDetails.reasoning_tokens, usage.reasoning_tokens)
  if (Math.min(prompt, completion, cached, written, audioIn, audioOut, reasoning) < 0) return null

  const excess = count(usage.total_tokens) - prompt - completion
  if (excess > 0) {
    if (excess === reasoning || excess === reasoning + audioIn) completion += reasoning
    if (excess === audioIn || excess === reasoning + audioIn) prompt += audioIn
  }
  const cacheRead = Math.min(cached, prompt)
  const cacheWrite = Math.min(written, prompt - cacheRead)
  const inputAudio = Math.min(audioIn, prompt - cacheRead - cacheWrite)
  const outputAudio = Math.min(audioOut, completion)
  const parsed: Usage = {
    tokens: {
      input: prompt - cacheRead - cacheWrite - inputAudio,
      output: completion - outputAudio,
    },
  }
  if (cacheRead > 0) parsed.tokens.cacheRead = cacheRead
  if (cacheWrite > 0) parsed.tokens.cacheWrite = cacheWrite
  if (inputAudio > 0) parsed.tokens.inputAudio = inputAudio
  if (outputAudio > 0) parsed.tokens.outputAudio = outputAudio
  if (reasoning > 0) parsed.reasoning = Math.min(reasoning, completion - outputAudio)
  const counts = parseCounts(usage, feePerRequest)
  if (counts !== null) parsed.counts = counts
  return parsed
}

/** Searches: OpenRouter's `server_tool_use_details`, xAI's `num_sources_used`, Perplexity's `num_search_queries`. */
const parseCounts = (
  usage: Fields,
  feePerRequest: boolean,
): NonNullable<Usage['counts']> | null => {
  const tools = fieldsOf(usage.server_tool_use_details ?? usage.server_tool_use)
  const searches = firstCount(
    tools.web_search_requests,
    usage.num_sources_used,
    usage.num_search_queries,
  )
  if (searches <= 0 && !feePerRequest) return null
  const counts: NonNullable<Usage['counts']> = {}
  if (feePerRequest) counts.request = 1
  if (searches > 0) counts.webSearch = searches
  return counts
}
