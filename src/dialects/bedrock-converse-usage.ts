/** Usage of a Converse answer in our disjoint classes. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html */
import { countOf, fieldsOf } from '../wire/fields.ts'
import type { Usage } from '../wire/usage.ts'

/** What is written to the cache has a price by how long it stays there. -1 where a count is none. */
const written1h = (details: unknown): number => {
  if (!Array.isArray(details)) return 0
  let sum = 0
  for (const detail of details) {
    const { ttl, inputTokens } = fieldsOf(detail)
    const count = countOf(inputTokens)
    if (count < 0) return -1
    if (ttl === '1h') sum += count
  }
  return sum
}

/** `inputTokens` holds no cached token, which the total shows: it counts them apart. `null` where a count is missing or none. */
export const parseUsage = (reported: unknown): Usage | null => {
  const usage = fieldsOf(reported)
  if (usage.inputTokens == null || usage.outputTokens == null) return null
  const input = countOf(usage.inputTokens)
  const output = countOf(usage.outputTokens)
  const cacheRead = countOf(usage.cacheReadInputTokens)
  const written = countOf(usage.cacheWriteInputTokens)
  const for1h = written1h(usage.cacheDetails)
  if (Math.min(input, output, cacheRead, written, for1h) < 0) return null
  const cacheWrite1h = Math.min(for1h, written)
  const parsed: Usage = { tokens: { input, output } }
  if (cacheRead > 0) parsed.tokens.cacheRead = cacheRead
  if (written > cacheWrite1h) parsed.tokens.cacheWrite = written - cacheWrite1h
  if (cacheWrite1h > 0) parsed.tokens.cacheWrite1h = cacheWrite1h
  return parsed
}
