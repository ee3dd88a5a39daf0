/**
 * Reads a streamed Converse answer: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 * (2026-11). messageStart, then blocks (a start only where it is a tool, deltas, stop), messageStop, and metadata with
 * the usage. Each event is padded by a field `p` against eavesdroppers; failures are frames of their own inside a 200.
 */
import { GatewayError } from '../errors.ts'
import {
  AwsEventStreamDecoder,
  type AwsFrame,
  BrokenFrame,
  maxFrameBytes,
} from '../wire/aws-event-stream.ts'
import type { ChatDelta } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { literalEnd, literalText } from '../wire/json-literal.ts'
import { jsonToolName } from './answer-format.ts'
import { type Cited, cite, finishReasonOf, isServerTool } from './bedrock-converse-answer.ts'
import { redactedDetail, unwrap } from './bedrock-converse-reasoning.ts'
import { parseUsage } from './bedrock-converse-usage.ts'
import { reasoningFormat } from './claude-thinking.ts'
import type { StreamEvent, StreamReader, TextDelta } from './dialect.ts'
import { brokenOff, inBandFailure, invalidResponse } from './failure.ts'

type OpenBlock = {
  kind: 'text' | 'reasoning' | 'call' | 'json' | 'other'
  /** Of a call, or of a piece of reasoning, among its like. */
  place: number
  /** Any of its content has come. */
  started: boolean
  /** What only makes sense as a whole: a signature, redacted reasoning. */
  signature: string
  redacted: string
  citations: Fields[] | null
}

/** Far above any real answer, so that broken indexes can't fill the memory. */
const maxBlocks = 65_536

const textHead = '"choices":[{"index":0,"delta":{"content":'
const textTail = '},"logprobs":null,"finish_reason":null}]}'
const padding = ',"p":"'
const brace = 0x7d
const backslash = 0x5c

/** Whether behind a piece of text nothing follows but the closing of two objects, and padding between them. */
const isClosing = (payload: string, from: number): boolean => {
  const last = payload.length - 1
  if (payload.charCodeAt(from) !== brace || payload.charCodeAt(last) !== brace) return false
  if (last === from + 1) return true
  if (!payload.startsWith(padding, from + 1)) return false
  // What the padding says is never read; it only must not end before its end.
  const quote = payload.indexOf('"', from + 1 + padding.length)
  return quote === last - 1 && payload.charCodeAt(last - 2) !== backslash
}

const parsePayload = ({ payload }: AwsFrame): Fields => {
  let parsed: unknown
  try {
    parsed = JSON.parse(payload)
  } catch {
    throw invalidResponse('an event is not JSON')
  }
  if (!isFields(parsed)) throw invalidResponse('an event is not an object')
  return parsed
}

/** An exception names what the model itself failed with, where it was the model. */
const failureOf = (frame: AwsFrame): GatewayError => {
  const { name: type, errorMessage } = frame.headers
  if (frame.payload === '') return inBandFailure({ type, message: errorMessage })
  let said: Fields = {}
  try {
    said = fieldsOf(JSON.parse(frame.payload))
  } catch {
    // Its name says enough.
  }
  const message = textOf(said.originalMessage) || textOf(said.message)
  return inBandFailure({ type, message, status_code: said.originalStatusCode })
}

export class BedrockConverseStream implements StreamReader {
  readonly #decoder = new AwsEventStreamDecoder()
  readonly #blocks = new Map<number, OpenBlock>()
  /** Waits for the next call where events before it must be handed out first. */
  #failure: GatewayError | null = null
  #done = false
  #started = false
  #stopped = false
  #reported = false
  /** What the wire writes before a piece of the text under way, for the shortest way through. */
  #textPrefix: string | null = null
  #length = 0
  /** Where the last block of text starts: citations in a block of their own are of it. */
  #textStart = 0
  #calls = 0
  #reasonings = 0

  get done(): boolean {
    return this.#done
  }

  get failure(): GatewayError | null {
    return this.#failure
  }

  /** What came before a failure is handed out first, so a cut elsewhere gives the same events; then it throws. */
  push(bytes: Buffer): StreamEvent[] {
    if (this.#failure !== null) throw this.#failure
    if (this.#done) return []
    const frames: AwsFrame[] = []
    let broken: GatewayError | null = null
    try {
      this.#decoder.push(bytes, frames)
    } catch (thrown) {
      if (!(thrown instanceof BrokenFrame)) throw thrown
      broken = invalidResponse(thrown.message)
    }
    const events: StreamEvent[] = []
    this.#read(frames, events)
    if (!this.#done) this.#failure ??= broken
    if (this.#failure !== null && events.length === 0) throw this.#failure
    return events
  }

  /** Usage is the last that comes; an answer is whole without it. */
  end(): StreamEvent[] {
    if (this.#failure !== null) throw this.#failure
    if (this.#done) return []
    if (!this.#stopped || this.#decoder.isAmidFrame) throw brokenOff()
    this.#done = true
    return []
  }

  #read(frames: readonly AwsFrame[], events: StreamEvent[]): void {
    for (const frame of frames) {
      try {
        this.#readFrame(frame, events)
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        this.#failure = thrown
        return
      }
      if (this.#stopped && this.#reported) {
        this.#done = true
        return
      }
    }
  }

  #readFrame(frame: AwsFrame, events: StreamEvent[]): void {
    const { messageType, name } = frame.headers
    if (messageType === 'exception' || messageType === 'error') throw failureOf(frame)
    switch (name) {
      case 'contentBlockDelta': {
        const text = this.#matchText(frame.payload)
        if (text === null) this.#readDelta(parsePayload(frame), events)
        else events.push({ text })
        break
      }
      case 'contentBlockStart':
        this.#startBlock(parsePayload(frame), events)
        break
      case 'contentBlockStop':
        this.#stopBlock(parsePayload(frame), events)
        break
      case 'messageStop':
        this.#finish(parsePayload(frame), events)
        break
      case 'metadata': {
        this.#reported = true
        const usage = parseUsage(parsePayload(frame).usage)
        if (usage !== null) events.push({ usage })
        break
      }
    }
  }

  /** Most events are a piece of the text under way: they need neither be parsed nor written anew. */
  #matchText(payload: string): TextDelta | null {
    const prefix = this.#textPrefix
    if (prefix === null || !payload.startsWith(prefix)) return null
    const start = prefix.length
    const end = literalEnd(payload, start)
    if (end - start < 3 || !isClosing(payload, end)) return null
    const literal = payload.slice(start, end)
    const text = literalText(literal)
    this.#length += text.length
    return { choice: 0, text, json: textHead + literal + textTail }
  }

  #startBlock(event: Fields, events: StreamEvent[]): void {
    const block = this.#blockOf(event)
    const { toolUse } = fieldsOf(event.start)
    if (!isFields(toolUse) || isServerTool(toolUse)) block.kind = 'other'
    else if (toolUse.name === jsonToolName) block.kind = 'json'
    else {
      block.kind = 'call'
      block.place = this.#calls++
      const id = textOf(toolUse.toolUseId) || `call_${block.place}`
      const named = { name: textOf(toolUse.name), arguments: '' }
      this.#emit(
        { tool_calls: [{ index: block.place, id, type: 'function', function: named }] },
        events,
      )
    }
  }

  #readDelta(event: Fields, events: StreamEvent[]): void {
    const block = this.#blockOf(event)
    const delta = fieldsOf(event.delta)
    if (typeof delta.text === 'string') this.#readText(event, block, delta.text, events)
    else if (isFields(delta.toolUse)) this.#readInput(block, textOf(delta.toolUse.input), events)
    else if (isFields(delta.reasoningContent))
      this.#readReasoning(block, delta.reasoningContent, events)
    else if (isFields(delta.citation)) {
      block.citations ??= []
      if (block.citations.length >= maxBlocks) throw invalidResponse('too many citations')
      block.citations.push(delta.citation)
    }
  }

  #readText(event: Fields, block: OpenBlock, text: string, events: StreamEvent[]): void {
    if (text === '') return
    if (!block.started) {
      block.started = true
      this.#textStart = this.#length
    }
    this.#emitText(text, events)
    this.#textPrefix = `{"contentBlockIndex":${String(event.contentBlockIndex)},"delta":{"text":`
  }

  #readInput(block: OpenBlock, json: string, events: StreamEvent[]): void {
    if (json === '') return
    block.started = true
    if (block.kind === 'json') this.#emitText(json, events)
    else if (block.kind === 'call')
      this.#emit({ tool_calls: [{ index: block.place, function: { arguments: json } }] }, events)
  }

  #readReasoning(block: OpenBlock, content: Fields, events: StreamEvent[]): void {
    if (block.kind !== 'reasoning') {
      block.kind = 'reasoning'
      block.place = this.#reasonings++
    }
    block.signature += textOf(content.signature)
    block.redacted += unwrap(textOf(content.redactedContent))
    if (block.signature.length + block.redacted.length > maxFrameBytes)
      throw invalidResponse('a signature is too long')
    const text = textOf(content.text)
    if (text === '') return
    block.started = true
    const detail = { type: 'reasoning.text', text, index: block.place }
    this.#emit({ reasoning: text, reasoning_details: [detail] }, events)
  }

  #stopBlock(event: Fields, events: StreamEvent[]): void {
    const block = this.#blockOf(event)
    this.#textPrefix = null
    switch (block.kind) {
      case 'call':
      case 'json':
        // A tool without parameters gets no delta, and clients parse the arguments.
        if (!block.started) this.#readInput(block, '{}', events)
        break
      case 'reasoning':
        this.#sealReasoning(block, events)
        break
    }
    if (block.citations !== null) this.#emitCitations(block.citations, events)
    this.#blocks.delete(Number(event.contentBlockIndex))
  }

  #sealReasoning({ signature, redacted, place }: OpenBlock, events: StreamEvent[]): void {
    const details: Fields[] = []
    if (signature !== '')
      details.push({ type: 'reasoning.text', signature, format: reasoningFormat, index: place })
    if (redacted !== '') details.push(redactedDetail(redacted, place))
    if (details.length > 0) this.#emit({ reasoning_details: details }, events)
  }

  #finish(event: Fields, events: StreamEvent[]): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#textPrefix = null
    const native = typeof event.stopReason === 'string' ? event.stopReason : null
    const choice = {
      index: 0,
      delta: this.#withStart({}),
      logprobs: null,
      finish_reason: finishReasonOf(native, this.#calls),
      native_finish_reason: native,
    }
    events.push({ chunk: { choices: [choice] } })
  }

  #emitText(text: string, events: StreamEvent[]): void {
    this.#length += text.length
    this.#emit({ content: text }, events)
  }

  #emitCitations(citations: readonly Fields[], events: StreamEvent[]): void {
    const cited: Cited = { annotations: [], citations: [] }
    cite(citations, this.#textStart, this.#length, cited)
    const delta: ChatDelta = {}
    if (cited.annotations.length > 0) delta.annotations = cited.annotations
    if (cited.citations.length > 0) delta.citations = cited.citations
    this.#emit(delta, events)
  }

  #emit(delta: ChatDelta, events: StreamEvent[]): void {
    const choice = {
      index: 0,
      delta: this.#withStart(delta),
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

  /** Only tools have a start, so the first event of a block opens it. */
  #blockOf({ contentBlockIndex: index }: Fields): OpenBlock {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0)
      throw invalidResponse('a block has no sane index')
    let block = this.#blocks.get(index)
    if (block === undefined) {
      if (this.#blocks.size >= maxBlocks) throw invalidResponse('too many blocks are open')
      block = {
        kind: 'text',
        place: 0,
        started: false,
        signature: '',
        redacted: '',
        citations: null,
      }
      this.#blocks.set(index, block)
    }
    return block
  }
}
