/**
 * Reads a streamed Gemini answer: each event is an answer in small, with the next pieces of its candidates and the usage
 * so far. The format has no last event: an answer is whole when every candidate has its reason and the upstream closes.
 */
import type { ChunkChoice } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { literalEnd, literalText } from '../wire/json-literal.ts'
import type { SseEvent } from '../wire/sse.ts'
import type { Usage } from '../wire/usage.ts'
import type { StreamEvent, TextDelta } from './dialect.ts'
import { EventStream } from './event-stream.ts'
import { inBandFailure, invalidResponse } from './failure.ts'
import { blockedPrompt, candidateIndex, unwrap } from './gemini-answer.ts'
import { Candidate } from './gemini-candidate.ts'
import { readUsage } from './gemini-usage.ts'

/** What the events of one answer have in common around the text and the usage, which alone differ in most of them. */
type Frame = { readonly before: string; readonly between: string; readonly after: string }

const textHead = '"choices":[{"index":0,"delta":{"content":'
const textTail = '},"logprobs":null,"finish_reason":null}]}'

const usageKey = '"usageMetadata":'

/** How often it may learn the frame anew; 0 reads each event in full. */
const maxLessons = 8

/** Of the events passed on in short each of these is asked for its usage; the last of an answer is read in full. */
const usageEvery = 8

const parseEvent = ({ data, event }: SseEvent): Fields | null => {
  let parsed: unknown
  try {
    parsed = unwrap(JSON.parse(data))
  } catch {
    if (event !== null) return null
    throw invalidResponse('an event is not JSON')
  }
  return isFields(parsed) ? parsed : null
}

export class GeminiStream extends EventStream {
  readonly #candidates: (Candidate | undefined)[] = []
  #blocked = false
  #frame: Frame | null = null
  #lessonsLeft = maxLessons
  /** Events passed on in short. */
  #passed = 0

  protected override readEvent(received: SseEvent, events: StreamEvent[]): boolean {
    if (this.#frame !== null && this.#passText(received.data, this.#frame, events)) return false
    const event = parseEvent(received)
    if (event === null) return false
    if (event.error) throw inBandFailure(event)
    const choices = this.#readChoices(event)
    const usage = readUsage(fieldsOf(event.usageMetadata))
    if (choices.length > 0 || usage !== null) {
      const told: StreamEvent = choices.length > 0 ? { chunk: { choices } } : {}
      if (usage !== null) told.usage = usage
      // While a candidate goes on, so do the counts.
      if (usage !== null && !this.isWhole()) told.running = true
      events.push(told)
    }
    const text = onlyText(choices)
    if (text !== null) this.#learn(received.data, event, text)
    return false
  }

  protected override isWhole(): boolean {
    if (this.#blocked) return true
    return this.#candidates.length > 0 && this.#candidates.every(one => one?.finished !== false)
  }

  #readChoices(event: Fields): ChunkChoice[] {
    const choices: ChunkChoice[] = []
    const candidates: unknown[] = Array.isArray(event.candidates) ? event.candidates : []
    for (const [position, candidate] of candidates.entries()) {
      if (!isFields(candidate)) throw invalidResponse('a candidate is not an object')
      const index = candidateIndex(candidate, position)
      const known = this.#candidates[index] ?? new Candidate(index)
      this.#candidates[index] = known
      const choice = known.read(candidate, textOf(event.responseId))
      if (choice !== null) choices.push(choice)
    }
    const blocked = candidates.length === 0 ? blockedPrompt(event) : null
    if (blocked !== null && !this.#blocked) {
      this.#blocked = true
      choices.push(blocked)
    }
    return choices
  }

  /** The text is where the event's first one is, and nothing else differs but the usage. */
  #learn(data: string, event: Fields, content: string): void {
    if (this.#lessonsLeft === 0 || this.#candidates.length !== 1) return
    this.#lessonsLeft--
    const key = /"text": ?(?=")/.exec(data)
    if (key === null) return
    const start = key.index + key[0].length
    const end = literalEnd(data, start)
    if (end === -1 || literalText(data.slice(start, end)) !== content) return
    const usage = data.indexOf(usageKey, end)
    const after = data.lastIndexOf(',"modelVersion"')
    if (usage === -1 || after < usage) return
    const usageStart = data.indexOf('{', usage)
    const found = parseFields(data.slice(usageStart, after))
    if (JSON.stringify(found) !== JSON.stringify(event.usageMetadata)) return
    this.#frame = {
      before: data.slice(0, start),
      between: data.slice(end, usageStart),
      after: data.slice(after),
    }
  }

  /** Most events are a piece of the text under way: they need neither be parsed nor written anew. */
  #passText(data: string, { before, between, after }: Frame, events: StreamEvent[]): boolean {
    const candidate = this.#candidates[0]
    if (!candidate?.isPlain || !data.startsWith(before) || !data.endsWith(after)) return false
    const end = literalEnd(data, before.length)
    if (end - before.length < 3 || !data.startsWith(between, end)) return false
    let usage: Usage | null = null
    if (++this.#passed % usageEvery === 0) {
      const usageText = data.slice(end + between.length, data.length - after.length)
      usage = readUsage(parseFields(usageText) ?? {})
    }
    const literal = data.slice(before.length, end)
    const text = literalText(literal)
    candidate.addText(text)
    const delta: TextDelta = { choice: 0, text, json: textHead + literal + textTail }
    events.push(usage === null ? { text: delta } : { text: delta, usage, running: true })
    return true
  }
}

const parseFields = (text: string): Fields | null => {
  try {
    const parsed: unknown = JSON.parse(text)
    return isFields(parsed) ? parsed : null
  } catch {
    return null
  }
}

/** A piece of the first candidate's text, where there is nothing else. */
const onlyText = (choices: readonly ChunkChoice[]): string | null => {
  const [choice] = choices
  if (choices.length !== 1 || choice?.index !== 0 || choice.finish_reason !== null) return null
  const { role: _, refusal: __, content, ...rest } = choice.delta
  return content && choice.logprobs === null && Object.keys(rest).length === 0 ? content : null
}
