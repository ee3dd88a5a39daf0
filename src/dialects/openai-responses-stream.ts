/**
 * Reads a streamed answer in OpenAI's Responses format: response.created, then items (added, deltas, done), then
 * response.completed, response.incomplete or response.failed.
 * Source: https://platform.openai.com/docs/api-reference/responses-streaming (2026-11).
 */
import type { ChatDelta, ToolCallDelta } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import type { SseEvent } from '../wire/sse.ts'
import type { StreamEvent } from './dialect.ts'
import { EventStream } from './event-stream.ts'
import { inBandFailure, invalidResponse } from './failure.ts'
import {
  argumentsOf,
  callIdOf,
  finishReasonOf,
  type ItemKind,
  kindOf,
  nativeReasonOf,
  readMessage,
} from './openai-responses-answer.ts'
import {
  partBreak,
  partsOf,
  reasoningDetail,
  reasoningFormat,
} from './openai-responses-reasoning.ts'
import { parseUsage } from './openai-responses-usage.ts'

type OpenItem = {
  readonly kind: ItemKind
  /** Of a call among the calls, of other items among those that a client can send back. */
  readonly place: number
  /** Where a message starts in the content. */
  readonly start: number
  readonly id: string
  /** Something of it was handed out already. */
  told: boolean
  /** The part of the reasoning under way. */
  part: string
}

/** Far above any real answer, so that a broken index can't grow an array without end. */
const maxItems = 65_536

const textHead = '"choices":[{"index":0,"delta":{"content":'
const textTail = '},"logprobs":null,"finish_reason":null}]}'

const parseEvent = ({ data, event }: SseEvent): Fields | null => {
  // Some close their stream as chat-completions does.
  if (data === '[DONE]') return null
  let parsed: unknown
  try {
    parsed = JSON.parse(data)
  } catch {
    if (event === 'error') return { type: 'error' }
    throw invalidResponse('an event is not JSON')
  }
  return isFields(parsed) ? parsed : null
}

export class OpenAiResponsesStream extends EventStream {
  readonly #items: (OpenItem | undefined)[] = []
  #started = false
  #length = 0
  #known = 0
  #calls = 0
  #reasoned = false

  protected override readEvent(received: SseEvent, events: StreamEvent[]): boolean {
    const event = parseEvent(received)
    if (event === null) return false
    switch (event.type ?? received.event) {
      case 'response.output_text.delta':
        this.#readText(event, events)
        break
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#readInput(this.#itemOf(event), textOf(event.delta), events)
        break
      case 'response.reasoning_summary_text.delta':
        this.#readReasoning(event, 'summary', event.summary_index, events)
        break
      case 'response.reasoning_text.delta':
        this.#readReasoning(event, 'text', event.content_index, events)
        break
      case 'response.refusal.delta':
        this.#itemOf(event).told = true
        this.#emit({ refusal: textOf(event.delta) }, events)
        break
      case 'response.output_item.added':
        this.#open(event.output_index, fieldsOf(event.item), events)
        break
      case 'response.output_item.done':
        this.#finishItem(event.output_index, fieldsOf(event.item), events)
        break
      case 'response.completed':
      case 'response.incomplete':
        this.#finish(fieldsOf(event.response), events)
        return true
      case 'response.failed':
      case 'response.cancelled':
        throw inBandFailure(fieldsOf(event.response))
      case 'error':
        throw inBandFailure(event)
    }
    return false
  }

  #readText(event: Fields, events: StreamEvent[]): void {
    const open = this.#itemOf(event)
    const text = textOf(event.delta)
    if (text === '') return
    open.told = true
    this.#length += text.length
    const { logprobs } = event
    if (Array.isArray(logprobs) && logprobs.length > 0) {
      this.#emit({ content: text }, events, { content: logprobs, refusal: null })
    } else if (this.#started) {
      const json = textHead + JSON.stringify(text) + textTail
      events.push({ text: { choice: 0, text, json } })
    } else this.#emit({ content: text }, events)
  }

  #readInput(open: OpenItem, input: string, events: StreamEvent[]): void {
    if (input === '') return
    const { kind, place } = open
    const call: ToolCallDelta =
      kind === 'custom'
        ? { index: place, custom: { input } }
        : { index: place, function: { arguments: input } }
    open.told = true
    this.#emit({ tool_calls: [call] }, events)
  }

  #readReasoning(
    event: Fields,
    kind: 'summary' | 'text',
    at: unknown,
    events: StreamEvent[],
  ): void {
    const text = textOf(event.delta)
    const part = typeof at === 'number' ? at : 0
    if (text !== '') this.#emitReasoning(this.#itemOf(event), kind, text, part, events)
  }

  #emitReasoning(
    open: OpenItem,
    kind: 'summary' | 'text',
    text: string,
    part: number,
    events: StreamEvent[],
  ): void {
    const detail = reasoningDetail(kind, text, open.place, part)
    // Once for each part: clients join the texts of what they gather.
    const begins = open.part !== `${kind} ${part}`
    if (begins) Object.assign(detail, identity(open))
    const reasoning = begins && this.#reasoned ? partBreak + text : text
    open.part = `${kind} ${part}`
    open.told = true
    this.#reasoned = true
    this.#emit({ reasoning, reasoning_details: [detail] }, events)
  }

  #open(at: unknown, item: Fields, events: StreamEvent[]): OpenItem {
    if (typeof at !== 'number' || !Number.isInteger(at) || at < 0 || at >= maxItems)
      throw invalidResponse('an item has no sane index')
    const kind = kindOf(item)
    const isCall = kind === 'call' || kind === 'custom'
    const open: OpenItem = {
      kind,
      place: isCall ? this.#calls++ : this.#known,
      start: this.#length,
      id: textOf(item.id),
      told: false,
      part: '',
    }
    if (kind !== 'other') this.#known++
    this.#items[at] = open
    if (isCall) this.#startCall(open, item, events)
    else if (kind === 'message' && item.phase) this.#emit({ phase: item.phase }, events)
    return open
  }

  #startCall({ kind, place }: OpenItem, item: Fields, events: StreamEvent[]): void {
    const name = textOf(item.name)
    const id = callIdOf(item, place)
    const call: ToolCallDelta =
      kind === 'custom'
        ? // `custom` is a kind too; the hub's type names only the common one.
          { index: place, id, type: 'custom' as 'function', custom: { name, input: '' } }
        : { index: place, id, type: 'function', function: { name, arguments: '' } }
    this.#emit({ tool_calls: [call] }, events)
  }

  /** Tells what no delta has told, and what only the whole item has. */
  #finishItem(at: unknown, item: Fields, events: StreamEvent[]): void {
    const known = typeof at === 'number' ? this.#items[at] : undefined
    const open = known ?? this.#open(at, item, events)
    switch (open.kind) {
      case 'message':
        this.#finishMessage(open, item, events)
        break
      case 'reasoning':
        this.#finishReasoning(open, item, events)
        break
      case 'call':
        if (!open.told) this.#readInput(open, argumentsOf(item.arguments), events)
        break
      case 'custom':
        if (!open.told) this.#readInput(open, textOf(item.input), events)
        break
    }
  }

  #finishMessage(open: OpenItem, item: Fields, events: StreamEvent[]): void {
    const { text, refusal, annotations } = readMessage(item, open.start)
    const delta: ChatDelta = {}
    if (!open.told && text !== '') delta.content = text
    if (!open.told && refusal !== '') delta.refusal = refusal
    if (!open.told) this.#length += text.length
    if (annotations.length > 0) delta.annotations = annotations
    if (Object.keys(delta).length > 0) this.#emit(delta, events)
  }

  #finishReasoning(open: OpenItem, item: Fields, events: StreamEvent[]): void {
    if (!open.told) {
      for (const [part, text] of partsOf(item.content).entries())
        if (text !== '') this.#emitReasoning(open, 'text', text, part, events)
      for (const [part, text] of partsOf(item.summary).entries())
        if (text !== '') this.#emitReasoning(open, 'summary', text, part, events)
    }
    const data = textOf(item.encrypted_content)
    if (data === '') return
    const detail = reasoningDetail('encrypted', data, open.place, 0)
    this.#emit({ reasoning_details: [{ ...detail, ...identity(open) }] }, events)
  }

  #finish(response: Fields, events: StreamEvent[]): void {
    // Seen nowhere, but allowed: an answer so short that it comes in one.
    if (this.#items.length === 0 && Array.isArray(response.output))
      for (const [at, item] of response.output.entries())
        this.#finishItem(at, fieldsOf(item), events)
    const choice = {
      index: 0,
      delta: this.#withStart({}),
      logprobs: null,
      finish_reason: finishReasonOf(response, this.#calls),
      native_finish_reason: nativeReasonOf(response) || null,
    }
    const usage = parseUsage(response.usage)
    events.push({ chunk: { choices: [choice] }, ...(usage === null ? {} : { usage }) })
  }

  #emit(delta: ChatDelta, events: StreamEvent[], logprobs: unknown = null): void {
    const choice = { index: 0, delta: this.#withStart(delta), logprobs, finish_reason: null }
    events.push({ chunk: { choices: [choice] } })
  }

  #withStart(delta: ChatDelta): ChatDelta {
    if (this.#started) return delta
    this.#started = true
    return { role: 'assistant', content: '', refusal: null, ...delta }
  }

  #itemOf({ output_index: at }: Fields): OpenItem {
    const open = typeof at === 'number' ? this.#items[at] : undefined
    if (open === undefined) throw invalidResponse('an event belongs to no item')
    return open
  }
}

const identity = ({ id }: OpenItem): Fields =>
  id === '' ? { format: reasoningFormat } : { id, format: reasoningFormat }
