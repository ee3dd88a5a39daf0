/**
 * What the readers of server-sent events have in common: decoding, what comes before a failure, and the end. A dialect
 * says what one event means.
 */
import { GatewayError } from '../errors.ts'
import { OversizedEvent, SseDecoder, type SseEvent } from '../wire/sse.ts'
import type { StreamEvent, StreamReader } from './dialect.ts'
import { brokenOff, invalidResponse } from './failure.ts'

export abstract class EventStream implements StreamReader {
  readonly #decoder = new SseDecoder()
  /** Waits for the next call where events before it must be handed out first. */
  #failure: GatewayError | null = null
  #done = false

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
    const events = this.#read(this.#decode(bytes))
    if (this.#failure !== null && events.length === 0) throw this.#failure
    return events
  }

  end(): StreamEvent[] {
    if (this.#failure !== null) throw this.#failure
    if (this.#done) return []
    const events = this.#read(this.#decode(null))
    if (this.#failure !== null) throw this.#failure
    if (!this.#done && !this.isWhole()) throw brokenOff()
    this.#done = true
    return events
  }

  /** Whether the answer may end by closing; most formats say that it is over. */
  protected isWhole(): boolean {
    return false
  }

  /** Adds what one event says to `events`; true where it ends the answer. Throws `GatewayError`. */
  protected abstract readEvent(received: SseEvent, events: StreamEvent[]): boolean

  #decode(bytes: Buffer | null): SseEvent[] {
    try {
      return bytes === null ? this.#decoder.end() : this.#decoder.push(bytes)
    } catch (thrown) {
      if (!(thrown instanceof OversizedEvent)) throw thrown
      this.#failure = invalidResponse(thrown.message)
      return []
    }
  }

  #read(received: readonly SseEvent[]): StreamEvent[] {
    const events: StreamEvent[] = []
    for (const event of received) {
      try {
        this.#done = this.readEvent(event, events)
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        this.#failure = thrown
      }
      if (this.#done || this.#failure !== null) break
    }
    return events
  }
}
