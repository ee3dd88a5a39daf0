/**
 * One keep-alive connection of the load generator: a minimal HTTP/1.1 client over a raw socket, so that the generator
 * takes as little as it can of the machine that it shares with what it measures. One request at a time.
 */
import { connect, type Socket } from 'node:net'

export type Outcome = {
  /** 0 where the connection failed. */
  status: number
  bodyBytes: number
  /** Lines `data: …` of a stream, `[DONE]` included. */
  events: number
  /** `[DONE]` was seen. */
  ended: boolean
  /** `performance.now()` at the first byte of the first event; 0 for none. */
  firstEventAt: number
  /** The body of an answer other than 200, for the report. */
  text: string
}

type Done = (outcome: Outcome, connection: Connection) => void

export class Connection {
  readonly #socket: Socket
  #outcome: Outcome = noOutcome()
  #done: Done | null = null
  #head: Buffer | null = null
  #inBody = false
  #streamed = false
  /** Bytes left of a body with a length; of the current chunk otherwise. */
  #left = 0
  #chunked = false
  #lastChunk = false
  /** An incomplete line: of the chunked framing, and of an event. */
  #framing = ''
  #event: Buffer | null = null

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#outcome.status = 0
      this.#finish()
    })
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
    })
  }

  get open(): boolean {
    return !this.#socket.destroyed
  }

  /** Sends one whole request; `done` is called once. */
  send(request: Buffer, done: Done): void {
    this.#outcome = noOutcome()
    this.#done = done
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.destroy()
  }

  #finish(): void {
    const done = this.#done
    this.#done = null
    this.#inBody = false
    this.#head = null
    this.#event = null
    done?.(this.#outcome, this)
  }

  #read(bytes: Buffer): void {
    if (this.#inBody) return this.#readFrom(bytes, 0)
    const all = this.#head === null ? bytes : Buffer.concat([this.#head, bytes])
    this.#head = all
    const end = all.indexOf('\r\n\r\n')
    if (end < 0) return
    this.#readHead(all.toString('latin1', 0, end + 2))
    this.#readFrom(all, end + 4)
  }

  #readFrom(bytes: Buffer, at: number): void {
    if (this.#chunked) this.#readChunked(bytes, at)
    else this.#readLength(bytes, at)
  }

  #readHead(head: string): void {
    this.#outcome.status = Number(head.slice(9, 12))
    const lower = head.toLowerCase()
    this.#inBody = true
    this.#chunked = lower.includes('transfer-encoding: chunked')
    this.#streamed = lower.includes('text/event-stream')
    this.#left = this.#chunked ? 0 : Number(/content-length: (\d+)/.exec(lower)?.[1] ?? 0)
    this.#lastChunk = false
    this.#framing = ''
  }

  #readLength(bytes: Buffer, at: number): void {
    this.#readBody(bytes.subarray(at))
    this.#left -= bytes.length - at
    if (this.#left <= 0) this.#finish()
  }

  #readChunked(bytes: Buffer, from: number): void {
    let at = from
    while (at < bytes.length) {
      if (this.#left > 0) {
        const to = Math.min(bytes.length, at + this.#left)
        this.#readBody(bytes.subarray(at, to))
        this.#left -= to - at
        at = to
        continue
      }
      const lineEnd = bytes.indexOf(10, at)
      if (lineEnd < 0) {
        this.#framing += bytes.toString('latin1', at)
        return
      }
      const line = (this.#framing + bytes.toString('latin1', at, lineEnd)).trim()
      this.#framing = ''
      at = lineEnd + 1
      if (line === '') {
        if (this.#lastChunk) return this.#finish()
      } else if (!this.#lastChunk) {
        this.#left = Number.parseInt(line, 16)
        this.#lastChunk = this.#left === 0
      }
    }
  }

  #readBody(bytes: Buffer): void {
    const outcome = this.#outcome
    outcome.bodyBytes += bytes.length
    if (outcome.status !== 200) outcome.text += bytes.toString('latin1', 0, 500)
    if (this.#streamed) this.#countEvents(bytes)
  }

  #countEvents(bytes: Buffer): void {
    const all = this.#event === null ? bytes : Buffer.concat([this.#event, bytes])
    this.#event = null
    if (all[all.length - 1] !== 10) {
      this.#event = all
      return
    }
    const outcome = this.#outcome
    for (let at = all.indexOf('data: '); at >= 0; at = all.indexOf('data: ', at + 6))
      outcome.events++
    if (outcome.events > 0 && outcome.firstEventAt === 0) outcome.firstEventAt = performance.now()
    if (all.includes('data: [DONE]\n')) outcome.ended = true
  }
}

const noOutcome = (): Outcome => ({
  status: 0,
  bodyBytes: 0,
  events: 0,
  ended: false,
  firstEventAt: 0,
  text: '',
})
