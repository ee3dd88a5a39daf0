/** Usage of an answer in OpenAI's Responses format, as our disjoint classes. */
import { countOf, fieldsOf } from '../wire/fields.ts'
import type { Usage } from '../wire/usage.ts'

/**
 * Cached tokens, read and written, are a part of the input, reasoning is a part of the output. `null` where a count is
 * missing or is none: then nothing was reported that can be charged, and the gateway counts.
 */
export const parseUsage = (reported: unknown): Usage | null => {
  const usage = fieldsOf(reported)
  if (usage.input_tokens == null || usage.output_tokens == null) return null
  const input = fieldsOf(usage.input_tokens_details)
  const prompt = countOf(usage.input_tokens)
  const completion = countOf(usage.output_tokens)
  const cached = countOf(input.cached_tokens)
  const written = countOf(input.cache_write_tokens)
  const reasoning = countOf(fieldsOf(usage.output_tokens_details).reasoning_tokens)
  if (Math.min(prompt, completion, cached, written, reasoning) < 0) return null
  const cacheRead = Math.min(cached, prompt)
  const cacheWrite = Math.min(written, prompt - cacheRead)
  const parsed: Usage = {
    tokens: { input: prompt - cacheRead - cacheWrite, output: completion },
  }
  if (cacheRead > 0) parsed.tokens.cacheRead = cacheRead
  if (cacheWrite > 0) parsed.tokens.cacheWrite = cacheWrite
  if (reasoning > 0) parsed.reasoning = Math.min(reasoning, completion)
  return parsed
}
