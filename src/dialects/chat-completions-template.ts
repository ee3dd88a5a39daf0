/**
 * The shortest way through: nearly all chunks of a stream differ from the one before in nothing but the text of
 * `delta.content`. A template learns from one fully read event what stands around that text, and recognises the next
 * events by it, so that they need neither be parsed nor written anew. Whatever is not exactly so is read in full.
 */
import type { ChatChunk } from '../wire/chat.ts'
import { literalEnd, literalText } from '../wire/json-literal.ts'
import type { TextDelta } from './dialect.ts'

/** Fields whose text means nothing and differs in each event: OpenAI's and Mistral's padding against eavesdroppers. */
const paddingKeys = ['"obfuscation":', '"p":']
const contentKey = '"content":'
const probe = '"\\u0001tollgate\\u0001"'
const otherPadding = '"0"'

export class ContentTemplate {
  /** What the upstream writes before the content, between it and the padding, and after that. */
  readonly #before: string
  readonly #between: string
  readonly #after: string | null
  /** What we write around the content. */
  readonly #head: string
  readonly #tail: string
  readonly #choice: number

  private constructor(around: Around, json: string, choice: number) {
    this.#before = around.before
    this.#between = around.between
    this.#after = around.after
    const hole = json.indexOf(probe)
    this.#head = json.slice(1, hole)
    this.#tail = json.slice(hole + probe.length)
    this.#choice = choice
  }

  /**
   * From the text of an event. `read` reads an event in full; it is asked what becomes of this one with another content
   * and another padding, so that nothing is assumed about what stands where. `null` where that shows a difference.
   */
  static learn(data: string, read: (data: string) => ChatChunk | null): ContentTemplate | null {
    const around = split(data)
    if (around === null) return null
    const { before, between, after } = around
    const chunk = read(before + probe + between + (after === null ? '' : otherPadding + after))
    const [choice, ...others] = chunk?.choices ?? []
    if (choice === undefined || others.length > 0) return null
    if (choice.finish_reason !== null || choice.logprobs !== null) return null
    if (Object.keys(choice.delta).join() !== 'content') return null
    const json = JSON.stringify(chunk)
    const [, , ...more] = json.split(probe)
    return json.includes(probe) && more.length === 0
      ? new ContentTemplate(around, json, choice.index)
      : null
  }

  /** The event's text as a delta; `null` where it is not such an event. An empty content is read in full. */
  match(data: string): TextDelta | null {
    const start = this.#before.length
    if (data.slice(0, start) !== this.#before) return null
    const end = literalEnd(data, start)
    if (end - start < 3 || !this.#matchesRest(data, end)) return null
    const literal = data.slice(start, end)
    return {
      choice: this.#choice,
      text: literalText(literal),
      json: this.#head + literal + this.#tail,
    }
  }

  #matchesRest(data: string, from: number): boolean {
    const to = from + this.#between.length
    if (data.slice(from, to) !== this.#between) return false
    if (this.#after === null) return to === data.length
    const end = literalEnd(data, to)
    return end !== -1 && data.slice(end) === this.#after
  }
}

type Around = { before: string; between: string; after: string | null }

const split = (data: string): Around | null => {
  const at = data.indexOf(contentKey)
  if (at === -1) return null
  const start = at + contentKey.length
  const end = literalEnd(data, start)
  if (end === -1) return null
  const before = data.slice(0, start)
  const rest = data.slice(end)
  for (const key of paddingKeys) {
    const place = rest.lastIndexOf(key)
    if (place === -1) continue
    const from = place + key.length
    const to = literalEnd(rest, from)
    if (to !== -1) return { before, between: rest.slice(0, from), after: rest.slice(to) }
  }
  return { before, between: rest, after: null }
}
