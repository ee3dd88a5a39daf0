/** Usage of an Anthropic answer in our disjoint classes. https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
import { countOf, type Fields, fieldsOf } from '../wire/fields.ts'
import type { Usage } from '../wire/usage.ts'

/**
 * Counts of one answer. Streams tell them in pieces: the input in `message_start`, the output so far in each
 * `message_delta`, which may correct the input too (compaction); all are totals, so the latest counts, save that a
 * later 0 is taken for a field left out. `input_tokens` holds no cached token.
 */
export class AnthropicUsage {
  #input = 0
  #cacheRead = 0
  #cacheWrite = 0
  #cacheWrite1h = 0
  #output = 0
  #thinking = 0
  #searches = 0
  #broken = false
  #reported = false

  add(reported: unknown): void {
    const usage = fieldsOf(reported)
    if (usage.input_tokens == null && usage.output_tokens == null) return
    this.#reported = true
    this.#input = this.#latest(this.#input, usage.input_tokens)
    this.#cacheRead = this.#latest(this.#cacheRead, usage.cache_read_input_tokens)
    this.#cacheWrite = this.#latest(this.#cacheWrite, usage.cache_creation_input_tokens)
    this.#output = this.#latest(this.#output, usage.output_tokens)
    if (usage.cache_creation) this.#addLifetimes(fieldsOf(usage.cache_creation))
    if (usage.output_tokens_details)
      this.#thinking = this.#latest(
        this.#thinking,
        fieldsOf(usage.output_tokens_details).thinking_tokens,
      )
    if (usage.server_tool_use)
      this.#searches = this.#latest(
        this.#searches,
        fieldsOf(usage.server_tool_use).web_search_requests,
      )
  }

  /** `null` where nothing was reported that can be charged: then the gateway counts. */
  read(): Usage | null {
    if (!this.#reported || this.#broken) return null
    const cacheWrite1h = Math.min(this.#cacheWrite1h, this.#cacheWrite)
    const cacheWrite = this.#cacheWrite - cacheWrite1h
    const usage: Usage = { tokens: { input: this.#input, output: this.#output } }
    if (this.#cacheRead > 0) usage.tokens.cacheRead = this.#cacheRead
    if (cacheWrite > 0) usage.tokens.cacheWrite = cacheWrite
    if (cacheWrite1h > 0) usage.tokens.cacheWrite1h = cacheWrite1h
    if (this.#thinking > 0) usage.reasoning = Math.min(this.#thinking, this.#output)
    if (this.#searches > 0) usage.counts = { webSearch: this.#searches }
    return usage
  }

  /** What was written to the cache, by how long it stays there; each has its price. */
  #addLifetimes(created: Fields): void {
    this.#cacheWrite1h = this.#latest(this.#cacheWrite1h, created.ephemeral_1h_input_tokens)
    const all = countOf(created.ephemeral_5m_input_tokens) + this.#cacheWrite1h
    this.#cacheWrite = Math.max(this.#cacheWrite, all)
  }

  #latest(before: number, reported: unknown): number {
    const now = countOf(reported)
    if (now < 0) this.#broken = true
    return now > 0 ? now : before
  }
}
