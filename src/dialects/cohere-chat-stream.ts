/** Reads a streamed Cohere answer: https://docs.cohere.com/v2/docs/streaming (2026-11). */
import type { ChatDelta } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { closes, literalEnd, literalText } from '../wire/json-literal.ts'
import type { SseEvent } from '../wire/sse.ts'
import {
  callArguments,
  cite,
  finishReasonOf,
  parseUsage,
  tokenLogprobs,
} from './cohere-chat-answer.ts'
import { planId, reasoningFormat } from './cohere-chat-messages.ts'
import type { StreamEvent, TextDelta } from './dialect.ts'
import { EventStream } from './event-stream.ts'
import { inBandFailure, invalidResponse } from './failure.ts'

type OpenCall = { readonly upstreamIndex: unknown; written: boolean }

const maxToolCalls = 1024

const textHead = '"choices":[{"index":0,"delta":{"content":'
const textTail = '},"logprobs":null,"finish_reason":null}]}'

const parseEvent = ({ data, event }: SseEvent): Fields | null => {
  let parsed: unknown
  try {
    parsed = JSON.parse(data)
  } catch {
    if (event === 'error') return { type: 'error' }
    throw invalidResponse('an event is not JSON')
  }
  return isFields(parsed) ? parsed : null
}

export class CohereChatStream extends EventStream {
  #answerId = ''
  #started = false
  /** What the wire writes before a piece of the text under way. */
  #textPrefix: string | null = null
  readonly #calls: OpenCall[] = []
  /** Pieces of reasoning so far, and whether the last is a plan. */
  #reasonings = 0
  #reasoningKind: 'plan' | 'thinking' | null = null

  protected override readEvent(received: SseEvent, events: StreamEvent[]): boolean {
    const text = this.#matchText(received.data)
    if (text !== null) {
      events.push({ text })
      return false
    }
    if (received.data === '[DONE]') throw invalidResponse('the answer stopped without a reason')
    const event = parseEvent(received)
    if (event === null) return false
    const message = fieldsOf(fieldsOf(event.delta).message)
    switch (event.type) {
      case 'content-start':
      case 'content-delta':
        this.#readContent(event, fieldsOf(message.content), events)
        break
      case 'tool-plan-delta':
        this.#emitReasoning('plan', textOf(message.tool_plan), events)
        break
      case 'tool-call-start':
        this.#startCall(event.index, fieldsOf(message.tool_calls), events)
        break
      case 'tool-call-delta':
        this.#readCall(event.index, fieldsOf(message.tool_calls), events)
        break
      case 'tool-call-end':
        this.#endCall(event.index, events)
        break
      case 'citation-start':
        this.#readCitation(message.citations, events)
        break
      case 'message-start':
        this.#answerId = textOf(event.id)
        break
      case 'message-end':
        this.#finish(fieldsOf(event.delta), events)
        return true
      default:
        if (event.type === 'error' || received.event === 'error' || isFailure(event))
          throw inBandFailure(event)
    }
    return false
  }

  /** Most events are a piece of the text under way: they need neither be parsed nor written anew. */
  #matchText(data: string): TextDelta | null {
    const prefix = this.#textPrefix
    if (prefix === null || !data.startsWith(prefix)) return null
    const end = literalEnd(data, prefix.length)
    if (end - prefix.length < 3 || !closes(data, end, 4)) return null
    const literal = data.slice(prefix.length, end)
    return { choice: 0, text: literalText(literal), json: textHead + literal + textTail }
  }

  #readContent(event: Fields, content: Fields, events: StreamEvent[]): void {
    this.#emitReasoning('thinking', textOf(content.thinking), events)
    const text = textOf(content.text)
    const logprobs = event.logprobs ? tokenLogprobs([event.logprobs]) : null
    if (text === '' && logprobs === null) return
    this.#emit({ content: text }, events, logprobs)
    this.#textPrefix = `{"type":"content-delta","index":${event.index},"delta":{"message":{"content":{"text":`
  }

  #startCall(upstreamIndex: unknown, call: Fields, events: StreamEvent[]): void {
    const index = this.#calls.length
    if (index >= maxToolCalls) throw invalidResponse('too many tool calls')
    this.#calls.push({ upstreamIndex, written: false })
    const { name, arguments: written } = fieldsOf(call.function)
    const id = textOf(call.id) || `call_${this.#answerId}_${index}`
    const named = { name: textOf(name), arguments: '' }
    this.#emit({ tool_calls: [{ index, id, type: 'function', function: named }] }, events)
    this.#writeArguments(index, textOf(written), events)
  }

  #readCall(upstreamIndex: unknown, call: Fields, events: StreamEvent[]): void {
    const written = textOf(fieldsOf(call.function).arguments)
    this.#writeArguments(this.#placeOf(upstreamIndex), written, events)
  }

  #endCall(upstreamIndex: unknown, events: StreamEvent[]): void {
    const index = this.#placeOf(upstreamIndex)
    // A tool without parameters gets no delta, and clients parse the arguments.
    if (this.#calls[index]?.written === false)
      this.#writeArguments(index, callArguments(null), events)
  }

  #writeArguments(index: number, written: string, events: StreamEvent[]): void {
    const call = this.#calls[index]
    if (call === undefined || written === '') return
    if (written === 'null' && !call.written) return
    call.written = true
    this.#emit({ tool_calls: [{ index, function: { arguments: written } }] }, events)
  }

  #placeOf(upstreamIndex: unknown): number {
    const place = this.#calls.findLastIndex(call => call.upstreamIndex === upstreamIndex)
    if (place === -1) throw invalidResponse('an event belongs to no tool call')
    return place
  }

  #readCitation(citation: unknown, events: StreamEvent[]): void {
    const delta: ChatDelta = {}
    cite(Array.isArray(citation) ? citation : [citation], delta)
    if (delta.annotations || delta.citations) this.#emit(delta, events)
  }

  #finish(end: Fields, events: StreamEvent[]): void {
    const usage = parseUsage(end.usage)
    const native = typeof end.finish_reason === 'string' ? end.finish_reason : null
    if (textOf(end.error) !== '') {
      if (usage !== null) events.push({ usage })
      throw inBandFailure({ message: end.error, code: native === 'TIMEOUT' ? 'timeout' : native })
    }
    const choice = {
      index: 0,
      delta: this.#withStart({}),
      logprobs: null,
      finish_reason: finishReasonOf(native),
      native_finish_reason: native,
    }
    const chunk = { choices: [choice] }
    events.push(usage === null ? { chunk } : { chunk, usage })
  }

  #emitReasoning(kind: 'plan' | 'thinking', text: string, events: StreamEvent[]): void {
    if (text === '') return
    const begins = this.#reasoningKind !== kind
    if (begins) this.#reasonings++
    this.#reasoningKind = kind
    const piece: Record<string, unknown> = {
      type: 'reasoning.text',
      text,
      index: this.#reasonings - 1,
    }
    // Once for each reasoning: clients join the texts of what they gather.
    if (begins) piece.format = reasoningFormat
    if (begins && kind === 'plan') piece.id = planId
    const reasoning = begins && this.#reasonings > 1 ? `\n${text}` : text
    this.#emit({ reasoning, reasoning_details: [piece] }, events)
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
}

/** What stands in place of an event where the answer fails: `{message}` without a type. */
const isFailure = ({ type, message, error }: Fields): boolean =>
  type === undefined && (typeof message === 'string' || error !== undefined)
