/** Reads a streamed chat-completions answer: bytes in, normalised chunks and usage out. */
import type { ChatChunk, ChatDelta, ChunkChoice, ToolCallDelta } from '../wire/chat.ts'
import type { SseEvent } from '../wire/sse.ts'
import {
  argumentsOf,
  copyEnvelopeFields,
  copyMessageFields,
  nativeFinishReason,
  parseFinishReason,
  reportedUsage,
  synthesiseToolCallId,
} from './chat-completions-answer.ts'
import type { Quirks } from './chat-completions-quirks.ts'
import { ContentTemplate } from './chat-completions-template.ts'
import { type Fields, isFields, parseUsage } from './chat-completions-usage.ts'
import type { StreamEvent } from './dialect.ts'
import { EventStream } from './event-stream.ts'
import { inBandFailure, invalidResponse } from './failure.ts'

/** One tool call under way. Its place in the list is the index that the client sees. */
type OpenToolCall = { readonly upstreamIndex: number; readonly id: string; name: string }

type OpenChoice = { readonly index: number; finished: boolean; readonly calls: OpenToolCall[] }

/** More than any provider's `n`, so that a broken index can't grow an array without end. */
const maxChoices = 128
const maxToolCalls = 1024

export class ChatCompletionsStream extends EventStream {
  readonly #quirks: Quirks
  readonly #choices: (OpenChoice | undefined)[] = []
  #template: ContentTemplate | null = null
  #lessonsLeft: number

  /** `lessons`: how often it may learn what its chunks have in common; 0 reads each in full. */
  constructor(quirks: Quirks, lessons = 8) {
    super()
    this.#quirks = quirks
    this.#lessonsLeft = lessons
  }

  /** Some servers close without a word once all is said. */
  protected override isWhole(): boolean {
    return this.#quirks.endsWithoutDone === true && this.#allFinished()
  }

  protected override readEvent({ event, data }: SseEvent, events: StreamEvent[]): boolean {
    if (this.#template !== null && event === null) {
      const text = this.#template.match(data)
      if (text !== null) {
        events.push({ text })
        return false
      }
    }
    if (data === '[DONE]') {
      if (this.#choices.length === 0) throw invalidResponse('the stream has no choices')
      return true
    }
    const chunk = parseChunk(data, event)
    if (chunk === null) return false
    const usage = hasUsage(chunk)
      ? parseUsage(reportedUsage(chunk), this.#quirks.feePerRequest === true)
      : null
    if (event === 'error' || chunk.error || chunk.object === 'error') {
      if (usage !== null) events.push({ usage })
      throw inBandFailure(chunk)
    }
    const choices = Array.isArray(chunk.choices) ? this.#readChoices(chunk.choices, chunk.id) : []
    if (choices.length === 0) {
      if (usage !== null) events.push({ usage })
      return false
    }
    const ours: ChatChunk = { choices }
    copyEnvelopeFields(chunk, ours)
    events.push(usage === null ? { chunk: ours } : { chunk: ours, usage })
    if (usage === null && event === null && isText(ours)) this.#learn(data)
    return false
  }

  /** The choice is open by now, so reading a content once more changes nothing here. */
  #learn(data: string): void {
    if (this.#lessonsLeft === 0) return
    this.#lessonsLeft--
    this.#template = ContentTemplate.learn(data, probed => {
      const chunk = parseChunk(probed, null)
      if (chunk === null || !Array.isArray(chunk.choices) || hasUsage(chunk)) return null
      const ours: ChatChunk = { choices: this.#readChoices(chunk.choices, chunk.id) }
      copyEnvelopeFields(chunk, ours)
      return ours
    })
  }

  #readChoices(received: readonly unknown[], answerId: unknown): ChunkChoice[] {
    const choices: ChunkChoice[] = []
    for (const choice of received) {
      if (!isFields(choice)) throw invalidResponse('a choice is not an object')
      const read = this.#readChoice(choice, answerId)
      if (read !== null) choices.push(read)
    }
    return choices
  }

  /** `null` where the choice says nothing. */
  #readChoice(choice: Fields, answerId: unknown): ChunkChoice | null {
    const index = choice.index ?? 0
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= maxChoices) {
      throw invalidResponse('a choice has no sane index')
    }
    let open = this.#choices[index]
    const delta: ChatDelta = {}
    if (open === undefined) {
      open = { index, finished: false, calls: [] }
      this.#choices[index] = open
      delta.role = 'assistant'
      delta.content = ''
      delta.refusal = null
    }
    if (isFields(choice.delta)) readDelta(choice.delta, delta, open, answerId)
    const logprobs = choice.logprobs ?? null
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
      open.finished = true
      const finish_reason = parseFinishReason(choice.finish_reason)
      return {
        index,
        delta,
        logprobs,
        finish_reason,
        native_finish_reason: nativeFinishReason(choice),
      }
    }
    return logprobs === null && isEmpty(delta)
      ? null
      : { index, delta, logprobs, finish_reason: null }
  }

  #allFinished(): boolean {
    return (
      this.#choices.length > 0 &&
      this.#choices.every(choice => choice === undefined || choice.finished)
    )
  }
}

const isText = ({ choices: [choice] }: ChatChunk): boolean =>
  choice?.finish_reason === null && choice.delta.content !== undefined && !choice.delta.role

const isEmpty = (delta: ChatDelta): boolean => {
  for (const _ in delta) return false
  return true
}

/** `null` for an event of a name that we don't know and that isn't ours to judge. */
const parseChunk = (data: string, event: string | null): Fields | null => {
  let parsed: unknown
  try {
    parsed = JSON.parse(data)
  } catch {
    if (event === 'error') return { error: {} }
    if (event !== null) return null
    throw invalidResponse('an event is not JSON')
  }
  if (isFields(parsed)) return parsed
  if (event !== null) return null
  throw invalidResponse('an event is not an object')
}

const hasUsage = (chunk: Fields): boolean => {
  if (chunk.usage || chunk.x_groq) return true
  const first: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : null
  return isFields(first) && isFields(first.usage)
}

const readDelta = (source: Fields, delta: ChatDelta, open: OpenChoice, answerId: unknown): void => {
  copyMessageFields(source, delta)
  if (delta.content === '' && delta.role === undefined) delete delta.content
  if (!Array.isArray(source.tool_calls)) return
  const calls: ToolCallDelta[] = []
  for (const call of source.tool_calls)
    if (isFields(call)) calls.push(readToolCall(call, open, answerId))
  if (calls.length > 0) delta.tool_calls = calls
}

/**
 * Id, kind and name are told once, at the start of a call. Servers differ in all three: some count from elsewhere than
 * 0, some give every parallel call the same index, some give none, some repeat id and name in each delta.
 */
const readToolCall = (call: Fields, open: OpenChoice, answerId: unknown): ToolCallDelta => {
  const id = typeof call.id === 'string' ? call.id : ''
  const source = isFields(call.function) ? call.function : null
  const name = typeof source?.name === 'string' ? source.name : ''
  let index = findToolCall(call, id, open.calls)
  const read: ToolCallDelta = { index }
  let started = open.calls[index]
  if (started === undefined) {
    index = open.calls.length
    if (index >= maxToolCalls) throw invalidResponse('too many tool calls')
    const upstreamIndex = typeof call.index === 'number' ? call.index : -1
    started = {
      upstreamIndex,
      id: id === '' ? synthesiseToolCallId(answerId, open.index, index) : id,
      name: '',
    }
    open.calls.push(started)
    read.index = index
    read.id = started.id
    // `custom` is a kind too; the hub's type names only the common one.
    read.type = (typeof call.type === 'string' ? call.type : 'function') as 'function'
  }
  if (source !== null) {
    read.function = { arguments: argumentsOf(source.arguments) }
    if (name !== '' && name !== started.name) {
      started.name = name
      read.function = { name, arguments: read.function.arguments ?? '' }
    }
  }
  if (isFields(call.custom)) read.custom = call.custom
  if (isFields(call.extra_content)) read.extra_content = call.extra_content
  return read
}

/** Place of the call that this delta continues; one past the last where it starts another. */
const findToolCall = (call: Fields, id: string, calls: readonly OpenToolCall[]): number => {
  for (let i = calls.length - 1; i >= 0; i--) {
    const known = calls[i]
    if (known === undefined) continue
    if (typeof call.index === 'number') {
      if (known.upstreamIndex === call.index) return id === '' || id === known.id ? i : calls.length
    } else if (id === '' || id === known.id) return i
  }
  return calls.length
}
