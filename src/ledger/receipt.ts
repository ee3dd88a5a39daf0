import type { Usage } from '../wire/usage.ts'

/** One call to one target. Failed ones cost the client nothing. */
export type Attempt = {
  provider: string
  model: string
  /** HTTP status of the upstream, `null` where no answer came. */
  status: number | null
  /** Code of the catalogue, `null` where it answered. */
  error: string | null
  latencyMs: number
}

/** Who called, as it named itself. Each value cut to a bounded length at the edge. */
export type Caller = {
  address: string
  referer: string | null
  title: string | null
  userAgent: string | null
}

/** What was applied, so that anyone can compute the charge again. nano-USD per million tokens, and each. */
export type AppliedRates = {
  version: string
  effectiveFrom: string | null
  rates: { [tokenClass: string]: bigint }
  fees: { [fee: string]: bigint }
  markupBasisPoints: number
}

/** The record of one answered request: what a settle writes, and while it runs a checkpoint. */
export type Receipt = {
  /** `gen-…`, ascending in time. */
  generationId: string
  accountId: string
  keyId: string
  /** As the client wrote it. */
  modelAsked: string
  /** The model id that served. */
  model: string
  provider: string
  streamed: boolean
  usage: Usage
  /** The gateway counted, since the upstream did not report. */
  estimated: boolean
  applied: AppliedRates
  /** Price of `usage` at `applied`; what is charged unless the balance can't cover it. */
  priceNanoUsd: bigint
  finishReason: string | null
  nativeFinishReason: string | null
  /** Code of the catalogue with which the answer ended, `client_closed_request` where the client left, else `null`. */
  error: string | null
  attempts: Attempt[]
  caller: Caller
  /** Unix milliseconds of admission; the period that spending counts in. */
  createdAtMs: number
  latencyMs: number
  ttftMs: number | null
}
