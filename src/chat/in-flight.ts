import type { UpstreamCall } from '../egress/upstream-call.ts'
import { GatewayError } from '../errors.ts'

/** One request under way, as the gateway's own clock and its stop see it. */
export interface Trip {
  /** Called a few times a second: keep-alive, checkpoint, time-outs. */
  tick(nowMs: number): void
  /** Told of each call to an upstream when it is made, so that `interrupt` also ends the wait for its head. */
  follow(call: UpstreamCall): void
  /** Ends it from outside, with this error. */
  interrupt(error: GatewayError): void
}

export type InFlightLimits = { total: number; perKey: number }

const tickMs = 250

/** All requests under way: how many there may be, one clock for all of them, and their end when the gateway stops. */
export class InFlight {
  readonly #limits: InFlightLimits
  readonly #perKey = new Map<string, number>()
  readonly #trips = new Set<Trip>()
  readonly #timer: NodeJS.Timeout
  #count = 0
  #draining = false

  constructor(limits: InFlightLimits, clock: () => number) {
    this.#limits = limits
    // One timer for all: thousands of streams would otherwise mean thousands of timers.
    this.#timer = setInterval(() => {
      const nowMs = clock()
      for (const trip of this.#trips) trip.tick(nowMs)
    }, tickMs)
    this.#timer.unref()
  }

  get count(): number {
    return this.#count
  }

  get draining(): boolean {
    return this.#draining
  }

  /** Refuses before any work is done. Raises `draining`, `overloaded`. */
  requireRoom(): void {
    if (this.#draining) {
      throw new GatewayError('draining', 'The gateway is stopping; send the request again.', {
        headers: { 'retry-after': '1', connection: 'close' },
      })
    }
    if (this.#count >= this.#limits.total) {
      throw new GatewayError(
        'overloaded',
        'The gateway is serving as many requests as it can; try again shortly.',
        {
          headers: { 'retry-after': '1' },
        },
      )
    }
  }

  /** Takes one of the key's places; `leave` gives it back. Raises `concurrency_limit_exceeded`. */
  enter(keyId: string): void {
    const open = this.#perKey.get(keyId) ?? 0
    const limit = this.#limits.perKey
    if (open >= limit) {
      throw new GatewayError(
        'concurrency_limit_exceeded',
        `This key has ${open} requests under way; the limit is ${limit}.`,
        {
          metadata: { limit },
          headers: {
            'retry-after': '1',
            'x-ratelimit-limit': String(limit),
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset': '1',
          },
        },
      )
    }
    this.#perKey.set(keyId, open + 1)
    this.#count++
  }

  leave(keyId: string): void {
    const open = this.#perKey.get(keyId) ?? 0
    if (open > 1) this.#perKey.set(keyId, open - 1)
    else this.#perKey.delete(keyId)
    this.#count--
  }

  watch(trip: Trip): void {
    this.#trips.add(trip)
  }

  unwatch(trip: Trip): void {
    this.#trips.delete(trip)
  }

  /** Refuses new requests from now on. */
  drain(): void {
    this.#draining = true
  }

  interruptAll(error: GatewayError): void {
    for (const trip of this.#trips) trip.interrupt(error)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
