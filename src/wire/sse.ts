/**
 * Server-sent events, both ways: a decoder for what upstreams send, and the encoding of what we send. Knows lines
 * and events, not what they mean.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html (2026-11), sections 9.2.5 and 9.2.6.
 */
import { StringDecoder } from 'node:string_decoder'

/** `event` is null where the upstream named none; that is the common case. */
export type SseEvent = { readonly event: string | null; readonly data: string }

/** Far above any real event (a whole generated image, base64), and far below what would hurt. In UTF-16 units. */
export const maxEventLength = 16 * 1024 * 1024

/** The upstream sent an event longer than `maxEventLength`. */
export class OversizedEvent extends Error {
  constructor() {
    super(`an event is longer than ${maxEventLength} characters`)
    this.name = 'OversizedEvent'
  }
}

const byteOrderMark = 0xfeff

/**
 * Reads one stream. Bytes may be cut anywhere, inside a character or between CR and LF too; what is incomplete is
 * kept for the next call. Cost is linear in the bytes, however they are cut.
 */
export class SseDecoder {
  readonly #decoder = new StringDecoder('utf8')
  /** The start of a line whose end has not come. Only ever appended to, so that V8 needs not flatten it. */
  #partial = ''
  #data: string | null = null
  #event: string | null = null
  #length = 0
  #started = false
  #skipLineFeed = false

  /** Events that these bytes complete. Raises `OversizedEvent`. */
  push(bytes: Buffer): SseEvent[] {
    const events: SseEvent[] = []
    this.#read(this.#decoder.write(bytes), events)
    return events
  }

  /** The stream has ended. The specification drops an event that lacks its blank line; real upstreams forget it. */
  end(): SseEvent[] {
    const events: SseEvent[] = []
    this.#read(`${this.#decoder.end()}\n\n`, events)
    return events
  }

  #read(decoded: string, events: SseEvent[]): void {
    if (decoded === '') return
    const text = this.#normalise(decoded)
    let start = 0
    let end = text.indexOf('\n')
    while (end !== -1) {
      if (this.#partial !== '') {
        const line = this.#partial + text.slice(start, end)
        this.#partial = ''
        this.#readLine(line, events)
      } else if (start === end) this.#dispatch(events)
      else if (text.startsWith('data: ', start)) this.#append(text.slice(start + 6, end))
      else this.#readLine(text.slice(start, end), events)
      start = end + 1
      end = text.indexOf('\n', start)
    }
    if (start < text.length) {
      this.#partial += start === 0 ? text : text.slice(start)
      if (this.#length + this.#partial.length > maxEventLength) throw new OversizedEvent()
    }
  }

  /** Drops a leading byte order mark, and makes every line end a single LF. */
  #normalise(decoded: string): string {
    let text = decoded
    if (!this.#started) {
      this.#started = true
      if (text.charCodeAt(0) === byteOrderMark) text = text.slice(1)
    }
    if (this.#skipLineFeed && text !== '') {
      this.#skipLineFeed = false
      if (text.charCodeAt(0) === 0x0a) text = text.slice(1)
    }
    if (text.indexOf('\r') === -1) return text
    this.#skipLineFeed = text.endsWith('\r')
    return text.replace(/\r\n?/g, '\n')
  }

  #readLine(line: string, events: SseEvent[]): void {
    if (line === '') this.#dispatch(events)
    else if (line.charCodeAt(0) !== 0x3a) this.#readField(line)
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data !== null) events.push({ event: this.#event, data: this.#data })
    this.#data = null
    this.#event = null
    this.#length = 0
  }

  #readField(line: string): void {
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value =
      colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1)
    if (name === 'event') this.#event = value === '' ? null : value
    else if (name === 'data') this.#append(value)
    else if (name === 'error') {
      // llama.cpp's server, and GPUStack over it, report a failure as a field of its own: `error: {…}`.
      this.#event = 'error'
      this.#append(value)
    }
  }

  #append(value: string): void {
    this.#length += value.length + 1
    if (this.#length > maxEventLength) throw new OversizedEvent()
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`
  }
}

/** `json` is output of `JSON.stringify`: it holds no line break, so nothing in it can end the event early. */
export const encodeSse = (json: string): string => `data: ${json}\n\n`

export const doneEvent = 'data: [DONE]\n\n'

/** A line that every client skips; keeps idle connections open. */
export const encodeComment = (text: string): string => `: ${text.replace(/[\r\n]+/g, ' ')}\n\n`
