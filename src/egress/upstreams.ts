/**
 * The one door out: connection pools to the upstreams. It knows addresses and time, and nothing of what is said;
 * it never follows a redirect and never lets a client choose a host.
 */
import { Pool } from 'undici'
import { answerInProcess } from './in-process.ts'
import { UpstreamCall } from './upstream-call.ts'

export type UpstreamRequest = {
  /** `https://host[:port]` */
  origin: string
  path: string
  headers: Record<string, string>
  body: string
  /** To connect, to the head of the answer, and between two reads of its body. */
  connectTimeoutMs: number
  headTimeoutMs: number
  idleTimeoutMs: number
  /** Set where the upstream lives in this process. */
  answerInProcess?: (
    body: string,
    signal: AbortSignal,
  ) => { contentType: string; chunks: AsyncIterable<string> }
}

export class Upstreams {
  readonly #pools = new Map<string, Pool>()
  readonly #connections: number

  /** `connections`: the most to one origin; further calls wait for one. */
  constructor({ connections }: { connections: number }) {
    this.#connections = connections
  }

  /** Starts a POST; failures arrive through the returned call, never as an exception here. */
  send(request: UpstreamRequest): UpstreamCall {
    const call = new UpstreamCall()
    if (request.answerInProcess) {
      void answerInProcess(request.answerInProcess, request.body, call)
      return call
    }
    this.#pool(request).dispatch(
      {
        method: 'POST',
        path: request.path,
        headers: request.headers,
        body: request.body,
        headersTimeout: request.headTimeoutMs,
        bodyTimeout: request.idleTimeoutMs,
      },
      call,
    )
    return call
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(pool => pool.destroy()))
  }

  #pool({ origin, connectTimeoutMs }: UpstreamRequest): Pool {
    let pool = this.#pools.get(origin)
    if (!pool) {
      pool = new Pool(origin, {
        connections: this.#connections,
        pipelining: 1,
        connect: { timeout: connectTimeoutMs },
        maxHeaderSize: 32 * 1024,
        // Upstreams close idle connections without a word; staying below their usual 5 s avoids writing into a closed one.
        keepAliveTimeout: 4_000,
      })
      this.#pools.set(origin, pool)
    }
    return pool
  }
}
