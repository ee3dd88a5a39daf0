/** Usage of an Anthropic answer in our disjoint classes. https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
import { countOf, type Fields, fieldsOf } from '../wire/fields.ts'
import type { Usage } from '../wire/usage.ts'

/**
 * Counts of one answer. Streams tell them in pieces: the input in `message_start`, the output so far in each
 * `message_delta`, which may correct the input too. All are totals, so the latest counts; a later report without any
 * input leaves the input as it was. `input_tokens` holds no cached token.
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
    this.#addInput(usage)
    this.#output = this.#count(usage.output_tokens) || this.#output
    if (usage.output_tokens_details) {
      const { thinking_tokens } = fieldsOf(usage.output_tokens_details)
      this.#thinking = this.#count(thinking_tokens) || this.#thinking
    }
    if (usage.server_tool_use) {
      const { web_search_requests } = fieldsOf(usage.server_tool_use)
      this.#searches = this.#count(web_search_requests) || this.#searches
    }
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

  #addInput(usage: Fields): void {
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage
    const input = this.#count(input_tokens)
    const cacheRead = this.#count(cache_read_input_tokens)
    const created = fieldsOf(usage.cache_creation)
    // What is written to the cache has a price by how long it stays there.
    const for1h = this.#count(created.ephemeral_1h_input_tokens)
    const both = for1h + this.#count(created.ephemeral_5m_input_tokens)
    const cacheWrite = Math.max(this.#count(cache_creation_input_tokens), both)
    if (input + cacheRead + cacheWrite === 0) return
    if (input_tokens != null) this.#input = input
    if (cache_read_input_tokens != null) this.#cacheRead = cacheRead
    if (cache_creation_input_tokens != null || both > 0) this.#cacheWrite = cacheWrite
    if (usage.cache_creation) this.#cacheWrite1h = for1h
  }

  #count(reported: unknown): number {
    const count = countOf(reported)
    if (count < 0) this.#broken = true
    return count
  }
}
