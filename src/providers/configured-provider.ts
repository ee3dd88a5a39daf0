import type { Provider } from './provider.ts'

/** Milliseconds, per phase of one call. */
export type UpstreamTimeouts = {
  readonly connectMs: number
  /** To the head of a streamed answer. */
  readonly firstByteMs: number
  /** To the head of a whole answer, which comes only when all is generated. */
  readonly wholeFirstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

/** A provider with this gateway's settings applied: where it is reached and with what. Made once, at start. */
export type ConfiguredProvider = {
  readonly provider: Provider
  /** `https://host[:port]` */
  readonly origin: string
  /** What stands between the origin and the dialect's path: `''` or `/v1`. */
  readonly basePath: string
  /** Used in turn. Empty where none is set, or none is needed. */
  readonly apiKeys: readonly string[]
  /** A credential is there, or none is needed: its models can be served. */
  readonly available: boolean
  readonly timeouts: UpstreamTimeouts
}
