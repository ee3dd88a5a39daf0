import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** A client that has not read a byte for this long while data waits for it is taken for gone. */
export const stalledClientMs = 60_000

/** The client's side of one request: whether it is still there, and the response as the data plane writes it. */
export class Client {
  readonly #reply: FastifyReply
  readonly #response: ServerResponse
  #gone = false
  #closed = () => {}
  #ended = false
  /** Called once when the client leaves before the response is out. */
  onGone: () => void = () => {}

  constructor(reply: FastifyReply) {
    this.#reply = reply
    this.#response = reply.raw
    this.#response.once('close', () => {
      this.#closed()
      if (this.#response.writableFinished) return
      this.#gone = true
      this.onGone()
    })
  }

  get gone(): boolean {
    return this.#gone
  }

  /** A byte of the answer has been sent: from here on a failure is told inside the answer. */
  get started(): boolean {
    return this.#response.headersSent
  }

  start(headers: Record<string, string>): void {
    // From here on the bytes are ours; what hooks set (request id, CORS) is taken along, since hijacking skips onSend.
    this.#reply.hijack()
    const all: string[] = []
    const set = this.#reply.getHeaders()
    for (const name in set) all.push(name, String(set[name]))
    for (const name in headers) all.push(name, headers[name] ?? '')
    this.#response.writeHead(200, all)
  }

  /** False where the client reads slower than it is written to; `onDrain` then tells when to go on. */
  write(text: string): boolean {
    // The clock may still want to fill a silence while the last bytes wait for a slow reader.
    return this.#ended || this.#response.write(text)
  }

  onDrain(callback: () => void): void {
    this.#response.once('drain', callback)
  }

  /** Resolves when the last byte is handed to the system, or the client has left or stopped reading. */
  end(text: string): Promise<void> {
    this.#ended = true
    if (this.#gone) return Promise.resolve()
    return new Promise(resolve => {
      this.#closed = resolve
      this.#response.end(text)
      // Node restarts this whenever the system takes some of it.
      if (this.#response.writableLength > 0)
        this.#response.setTimeout(stalledClientMs, () => this.cut())
    })
  }

  /** Cuts a client that has stopped reading. */
  cut(): void {
    this.#response.destroy()
  }
}
