import type { Database } from '../db/database.ts'
import type { Receipt } from './receipt.ts'

/** A part of a balance set aside for one generation. Lives in memory; ends exactly once, settled or released. */
export interface Hold {
  readonly generationId: string
  readonly accountId: string
  readonly keyId: string
  readonly amountNanoUsd: bigint
  readonly state: 'open' | 'settled' | 'released'
}

export type HoldRequest = { generationId: string; accountId: string; keyId: string; amountNanoUsd: bigint }

export type SettleOptions = {
  /**
   * What becomes of the charge when the commit fails. `void`: the client got nothing (a whole answer), so it is
   * withdrawn. `keep`: what was delivered (a stream) is owed, so it stays queued until it commits.
   */
  onCommitFailure: 'void' | 'keep'
  /** What the operator may have to pay upstream though nothing was charged; noted per key. */
  exposureNanoUsd?: bigint
}

export interface Settlement {
  readonly chargeNanoUsd: bigint
  /** The part of the price that the balance could not cover. */
  readonly lossNanoUsd: bigint
  /** Resolves once durable; rejects with `ledger_unavailable`. Need not be awaited. */
  readonly committed: Promise<void>
}

export type Snapshot = { balanceNanoUsd: bigint; heldNanoUsd: bigint; availableNanoUsd: bigint }

export type CreditRequest = {
  accountId: string
  /** Above 0. */
  amountNanoUsd: bigint
  /** Of the outside payment; credits once. */
  reference: string
  note?: string | null
}

export type AdjustRequest = { accountId: string; amountNanoUsd: bigint; note: string }

export type Credited = { alreadyCredited: boolean; balanceNanoUsd: bigint }

/** For metrics; all of them only ever grow, save for the last four. */
export type LedgerStats = {
  readonly commits: number
  readonly failedCommits: number
  readonly settled: number
  /** Settles that the database refused for good; anything above 0 calls for `tollgate audit`. */
  readonly refused: number
  readonly lastCommitMs: number
  readonly openHolds: number
  readonly heldNanoUsd: bigint
  readonly queued: number
}

export type LedgerOptions = {
  /** Unix milliseconds. */
  clock: () => number
  /** Called after each commit that succeeded. */
  onCommit?: (durationMs: number, settles: number) => void
}

/** The only writer of balances. */
export interface Ledger {
  readonly stats: LedgerStats
  /** False while the last commit failed: nothing may be dispatched. */
  readonly available: boolean
  /** Generations that recovery settled when this ledger was opened. */
  readonly recovered: number
  /** Makes a newly created account known, with a balance of 0. */
  open(accountId: string): void
  /** Raises `not_found`. */
  snapshot(accountId: string): Snapshot
  availableNanoUsd(accountId: string): bigint
  /** Raises `insufficient_credits` (metadata `balance`, `held`, `required`), `ledger_unavailable`. */
  hold(request: HoldRequest): Hold
  /** False where the balance does not cover it; the hold is then as before. */
  extend(hold: Hold, extraNanoUsd: bigint): boolean
  /** Ends a hold for nothing; idempotent, and without effect after `settle`. */
  release(hold: Hold): void
  /** Queues the evidence so far; not awaited. Without effect once the hold has ended. */
  checkpoint(hold: Hold, receipt: Receipt): void
  /** Idempotent: the first call decides, later ones return the same. Raises `internal_error` for a released hold. */
  settle(hold: Hold, receipt: Receipt, options: SettleOptions): Settlement
  /** Raises `invalid_request` (amount, or a reference used for something else), `not_found`, `ledger_unavailable`. */
  credit(request: CreditRequest): Promise<Credited>
  /** Money back to the account; likewise once per reference. */
  refund(request: CreditRequest): Promise<Credited>
  /** Either sign. Raises `insufficient_credits` beyond what is available. */
  adjust(request: AdjustRequest): Promise<Credited>
  /** Resolves when all that is queued is committed; rejects with `ledger_unavailable` after `timeoutMs` (10 s). */
  drain(timeoutMs?: number): Promise<void>
}

/** Recovers what a crash left running, checks each balance against its last entry, and loads the balances. */
export const openLedger = async (_db: Database, _options: LedgerOptions): Promise<Ledger> => {
  throw new Error('not yet')
}
