/**
 * The load generator. Closed loop: so many connections, each sends its next request when the last one is answered;
 * for throughput and CPU. Open loop: requests leave at a fixed rate, whatever comes back; for latency.
 */
import { Connection, type Outcome } from './client.ts'
import { metronome } from './metronome.ts'
import { eventsPerStream } from './workload.ts'

export type Load = { port: number; key: string; body: string; stream: boolean }

export type LoadResult = {
  completed: number
  /** Answers that were not whole and well; `firstFailure` shows one. */
  failed: number
  firstFailure: string
  elapsedMs: number
  /** Per completed request. From the intended time of sending: a late sender hides no delay. */
  latenciesMs: number[]
  /** Per completed stream: to the first event. */
  firstEventMs: number[]
}

/** Runs until `durationMs` is over, then lets what is in flight end: every request sent is in the result. */
export const closedLoop = async (
  load: Load,
  connections: readonly Connection[],
  durationMs: number,
): Promise<LoadResult> => {
  const tally = new Tally(load)
  const deadline = tally.startedAt + durationMs
  const run = (connection: Connection): Promise<void> =>
    new Promise(resolve => {
      const next = (): void => {
        const sentAt = performance.now()
        if (sentAt >= deadline || !connection.open) return resolve()
        connection.send(tally.request, outcome => {
          tally.add(outcome, sentAt)
          next()
        })
      }
      next()
    })
  await Promise.all(connections.map(run))
  return tally.result()
}

/** Sends `perSecond` requests each second for `durationMs`, over as many connections as that needs. */
export const openLoop = async (
  load: Load,
  { perSecond, durationMs }: { perSecond: number; durationMs: number },
): Promise<LoadResult> => {
  const idle = await openConnections(load.port, 32)
  const opened = [...idle]
  const tally = new Tally(load)
  const count = Math.floor((perSecond * durationMs) / 1000)
  const unused = async (): Promise<Connection> => {
    const connection = await Connection.open(load.port)
    opened.push(connection)
    return connection
  }
  await new Promise<void>((resolve, reject) => {
    const send = (connection: Connection, dueAt: number): void =>
      connection.send(tally.request, outcome => {
        tally.add(outcome, dueAt)
        if (connection.open) idle.push(connection)
        if (tally.count === count) resolve()
      })
    const beat = (dueAt: number): void => {
      const connection = idle.pop()
      if (connection) send(connection, dueAt)
      else unused().then(fresh => send(fresh, dueAt), reject)
    }
    metronome({ perSecond, count }, beat).catch(reject)
  })
  for (const connection of opened) connection.close()
  return tally.result()
}

export const openConnections = async (port: number, count: number): Promise<Connection[]> => {
  const connections: Connection[] = []
  while (connections.length < count) {
    const batch = Math.min(128, count - connections.length)
    connections.push(
      ...(await Promise.all(Array.from({ length: batch }, () => Connection.open(port)))),
    )
  }
  return connections
}

class Tally {
  readonly request: Buffer
  readonly startedAt = performance.now()
  readonly #stream: boolean
  readonly #latenciesMs: number[] = []
  readonly #firstEventMs: number[] = []
  #failed = 0
  #firstFailure = ''

  constructor({ port, key, body, stream }: Load) {
    this.#stream = stream
    this.request = Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }

  get count(): number {
    return this.#latenciesMs.length + this.#failed
  }

  add(outcome: Outcome, sentAt: number): void {
    const whole = this.#stream
      ? outcome.ended && outcome.events === eventsPerStream
      : outcome.bodyBytes > 500
    if (outcome.status !== 200 || !whole) {
      this.#firstFailure ||= JSON.stringify(outcome)
      this.#failed++
      return
    }
    this.#latenciesMs.push(performance.now() - sentAt)
    if (this.#stream) this.#firstEventMs.push(outcome.firstEventAt - sentAt)
  }

  result(): LoadResult {
    return {
      completed: this.#latenciesMs.length,
      failed: this.#failed,
      firstFailure: this.#firstFailure,
      elapsedMs: performance.now() - this.startedAt,
      latenciesMs: this.#latenciesMs,
      firstEventMs: this.#firstEventMs,
    }
  }
}
