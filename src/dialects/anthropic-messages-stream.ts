/**
 * Reads a streamed Anthropic answer: https://platform.claude.com/docs/en/build-with-claude/streaming (2026-11).
 * message_start, then blocks one after another (start, deltas, stop), message_delta, message_stop; pings anywhere.
 */
import type { ChatDelta, ChunkChoice } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { closes, literalEnd, literalText } from '../wire/json-literal.ts'
import type { SseEvent } from '../wire/sse.ts'
import { jsonToolName } from './answer-format.ts'
import { cite, finishReasonOf, redactedDetail, refusalOf } from './anthropic-messages-answer.ts'
import { AnthropicUsage } from './anthropic-messages-usage.ts'
import { reasoningFormat } from './claude-thinking.ts'
import type { StreamEvent, TextDelta } from './dialect.ts'
import { EventStream } from './event-stream.ts'
import { inBandFailure, invalidResponse } from './failure.ts'

type OpenBlock = {
  readonly kind: 'text' | 'thinking' | 'call' | 'json' | 'other'
  /** Of a call, or of a piece of reasoning, among its like. */
  readonly place: number
  /** Where the block's text starts in the content. */
  readonly start: number
  /** What the wire writes before a piece of this block's text. */
  readonly prefix: string
  /** Input as the start told it, where no delta does. */
  readonly input: unknown
  started: boolean
  citations: unknown[] | null
}

/** Far above any real answer, so that a broken index can't grow an array without end. */
const maxBlocks = 65_536

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

export class AnthropicMessagesStream extends EventStream {
  readonly #usage = new AnthropicUsage()
  readonly #blocks: (OpenBlock | undefined)[] = []
  /** The text block under way, for the shortest way through. */
  #text: OpenBlock | null = null
  #answerId: unknown = null
  #started = false
  #finished = false
  #blocksBegun = false
  #length = 0
  #calls = 0
  #reasonings = 0

  protected override readEvent(received: SseEvent, events: StreamEvent[]): boolean {
    if (received.event === 'ping') return false
    const text = this.#matchText(received.data)
    if (text !== null) {
      events.push({ text })
      return false
    }
    const event = parseEvent(received)
    if (event === null) return false
    switch (event.type) {
      case 'content_block_delta':
        this.#readDelta(this.#blockOf(event), fieldsOf(event.delta), events)
        break
      case 'content_block_start':
        this.#startBlock(event.index, fieldsOf(event.content_block), events)
        break
      case 'content_block_stop':
        this.#stopBlock(event.index, events)
        break
      case 'message_start':
        this.#startMessage(fieldsOf(event.message), events)
        break
      case 'message_delta':
        this.#readMessageDelta(event, events)
        break
      case 'message_stop':
        if (!this.#finished) throw invalidResponse('the answer stopped without a reason')
        return true
      case 'error':
        throw inBandFailure(event)
    }
    return false
  }

  /** Most events are a piece of the text under way: they need neither be parsed nor written anew. */
  #matchText(data: string): TextDelta | null {
    const open = this.#text
    if (open === null || !this.#started || !data.startsWith(open.prefix)) return null
    const start = open.prefix.length
    const end = literalEnd(data, start)
    if (end - start < 3 || !closes(data, end, 2)) return null
    const literal = data.slice(start, end)
    const text = literalText(literal)
    this.#length += text.length
    return { choice: 0, text, json: textHead + literal + textTail }
  }

  #startMessage(message: Fields, events: StreamEvent[]): void {
    // Seen: the same start twice. Another one amid the answer means that two answers are mixed.
    if (this.#blocksBegun && message.id !== this.#answerId)
      throw invalidResponse('another answer began amid this one')
    this.#answerId = message.id
    this.#usage.add(message.usage)
    const usage = this.#usage.read()
    if (usage !== null) events.push({ usage, running: true })
    if (Array.isArray(message.content)) {
      for (const [index, block] of message.content.entries()) {
        this.#startBlock(index, fieldsOf(block), events)
        this.#stopBlock(index, events)
      }
    }
    // Seen where the whole answer stands in its start.
    if (typeof message.stop_reason === 'string') this.#finish(message, events)
  }

  #startBlock(at: unknown, block: Fields, events: StreamEvent[]): void {
    if (typeof at !== 'number' || !Number.isInteger(at) || at < 0 || at >= maxBlocks)
      throw invalidResponse('a block has no sane index')
    this.#blocksBegun = true
    const open = this.#open(at, block)
    this.#blocks[at] = open
    switch (open.kind) {
      case 'text':
        this.#text = open
        if (Array.isArray(block.citations)) open.citations = [...block.citations]
        if (textOf(block.text) !== '') this.#emitText(textOf(block.text), events)
        break
      case 'thinking':
        this.#startThinking(open, block, events)
        break
      case 'call': {
        const id = textOf(block.id) || `call_${textOf(this.#answerId)}_${open.place}`
        const named = { name: textOf(block.name), arguments: '' }
        const call = { index: open.place, id, type: 'function' as const, function: named }
        this.#emit({ tool_calls: [call] }, events)
        break
      }
    }
  }

  #open(at: number, block: Fields): OpenBlock {
    const kind = this.#kindOf(block)
    const prefix =
      kind === 'text'
        ? `{"type":"content_block_delta","index":${at},"delta":{"type":"text_delta","text":`
        : ''
    let place = 0
    if (kind === 'call') place = this.#calls++
    else if (kind === 'thinking') place = this.#reasonings++
    return {
      kind,
      place,
      start: this.#length,
      prefix,
      input: block.input,
      started: false,
      citations: null,
    }
  }

  #kindOf({ type, name }: Fields): OpenBlock['kind'] {
    if (type === 'text') return 'text'
    if (type === 'thinking' || type === 'redacted_thinking') return 'thinking'
    if (type === 'tool_use') return name === jsonToolName ? 'json' : 'call'
    return 'other'
  }

  #startThinking(open: OpenBlock, block: Fields, events: StreamEvent[]): void {
    if (block.type === 'redacted_thinking') {
      this.#emit({ reasoning_details: [redactedDetail(block, open.place)] }, events)
      return
    }
    if (textOf(block.thinking) !== '') this.#emitThinking(open, textOf(block.thinking), events)
    if (textOf(block.signature) !== '') this.#emitSignature(open, block.signature, events)
  }

  #readDelta(open: OpenBlock, delta: Fields, events: StreamEvent[]): void {
    switch (delta.type) {
      case 'text_delta':
        if (open.kind === 'text' && textOf(delta.text) !== '')
          this.#emitText(textOf(delta.text), events)
        break
      case 'input_json_delta':
        this.#readInput(open, textOf(delta.partial_json), events)
        break
      case 'thinking_delta':
        if (open.kind === 'thinking' && textOf(delta.thinking) !== '')
          this.#emitThinking(open, textOf(delta.thinking), events)
        break
      case 'signature_delta':
        if (open.kind === 'thinking') this.#emitSignature(open, delta.signature, events)
        break
      case 'citations_delta':
        open.citations ??= []
        open.citations.push(delta.citation)
        break
    }
  }

  #readInput(open: OpenBlock, json: string, events: StreamEvent[]): void {
    if (json === '') return
    open.started = true
    if (open.kind === 'json') this.#emitText(json, events)
    else if (open.kind === 'call')
      this.#emit({ tool_calls: [{ index: open.place, function: { arguments: json } }] }, events)
  }

  #stopBlock(at: unknown, events: StreamEvent[]): void {
    const open = this.#blockOf({ index: at })
    // A tool without parameters gets no delta, and clients parse the arguments.
    if (!open.started && (open.kind === 'call' || open.kind === 'json'))
      this.#readInput(open, JSON.stringify(open.input ?? {}), events)
    if (open.citations !== null) this.#emitCitations(open, events)
    if (this.#text === open) this.#text = null
    this.#blocks[Number(at)] = undefined
  }

  #readMessageDelta(event: Fields, events: StreamEvent[]): void {
    this.#usage.add(event.usage)
    const delta = fieldsOf(event.delta)
    if (typeof delta.stop_reason === 'string') {
      this.#finish(delta, events)
      return
    }
    const usage = this.#usage.read()
    if (usage !== null) events.push({ usage, running: true })
  }

  #finish({ stop_reason, stop_details }: Fields, events: StreamEvent[]): void {
    this.#finished = true
    const native = textOf(stop_reason)
    const refusal = native === 'refusal' ? refusalOf(stop_details) : null
    const choice: ChunkChoice = {
      index: 0,
      delta: this.#withStart(refusal === null ? {} : { refusal }),
      logprobs: null,
      finish_reason: finishReasonOf(native, this.#calls),
      native_finish_reason: native,
    }
    const chunk = { choices: [choice] }
    const usage = this.#usage.read()
    events.push(usage === null ? { chunk } : { chunk, usage })
  }

  #emitText(text: string, events: StreamEvent[]): void {
    this.#length += text.length
    this.#emit({ content: text }, events)
  }

  #emitThinking(open: OpenBlock, text: string, events: StreamEvent[]): void {
    const detail: Record<string, unknown> = { type: 'reasoning.text', text, index: open.place }
    // Once for each block: clients join the texts of what they gather.
    if (!open.started) detail.format = reasoningFormat
    open.started = true
    this.#emit({ reasoning: text, reasoning_details: [detail] }, events)
  }

  #emitSignature(open: OpenBlock, signature: unknown, events: StreamEvent[]): void {
    const detail: Record<string, unknown> = {
      type: 'reasoning.text',
      signature,
      index: open.place,
    }
    if (!open.started) detail.format = reasoningFormat
    open.started = true
    this.#emit({ reasoning_details: [detail] }, events)
  }

  #emitCitations(open: OpenBlock, events: StreamEvent[]): void {
    const cited = { annotations: [], citations: [] }
    cite(open.citations ?? [], open.start, this.#length, cited)
    const delta: ChatDelta = {}
    if (cited.annotations.length > 0) delta.annotations = cited.annotations
    if (cited.citations.length > 0) delta.citations = cited.citations
    this.#emit(delta, events)
  }

  #emit(delta: ChatDelta, events: StreamEvent[]): void {
    const choice = {
      index: 0,
      delta: this.#started ? delta : this.#withStart(delta),
      logprobs: null,
      finish_reason: null,
    }
    events.push({ chunk: { choices: [choice] } })
  }

  #withStart(delta: ChatDelta): ChatDelta {
    if (this.#started) return delta
    this.#started = true
    return { role: 'assistant', content: '', refusal: null, ...delta }
  }

  #blockOf({ index }: Fields): OpenBlock {
    const open = typeof index === 'number' ? this.#blocks[index] : undefined
    if (open === undefined) throw invalidResponse('an event belongs to no block')
    return open
  }
}
