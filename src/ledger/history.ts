/** What the ledger has on record, for those who may ask. Reads only, on the reader thread. */
import type { Database } from '../db/database.ts'
import type { Receipt } from './receipt.ts'

export type Generation = Receipt & {
  state: 'running' | 'settled' | 'recovered'
  chargeNanoUsd: bigint
  lossNanoUsd: bigint
}

export type Entry = {
  id: number
  accountId: string
  kind: 'top_up' | 'charge' | 'refund' | 'adjustment'
  amountNanoUsd: bigint
  balanceAfterNanoUsd: bigint
  reference: string | null
  note: string | null
  createdAtMs: number
}

export type Spending = {
  dayNanoUsd: bigint
  weekNanoUsd: bigint
  monthNanoUsd: bigint
  totalNanoUsd: bigint
}

/** `undefined` where the account has no such generation: another account's is never told from none. */
export const findGeneration = async (
  _db: Database,
  _accountId: string,
  _generationId: string,
): Promise<Generation | undefined> => {
  throw new Error('not yet')
}

/** What a key was charged in this UTC day, week (from Monday), month, and in all. */
export const spendingOfKey = async (
  _db: Database,
  _keyId: string,
  _nowMs: number,
): Promise<Spending> => {
  throw new Error('not yet')
}

/** All that was ever credited to (top-ups, refunds, adjustments) and charged from an account. */
export const totalsOfAccount = async (
  _db: Database,
  _accountId: string,
): Promise<{ creditedNanoUsd: bigint; chargedNanoUsd: bigint }> => {
  throw new Error('not yet')
}

/** Newest first. */
export const entriesOf = async (
  _db: Database,
  _accountId: string,
  _limit: number,
): Promise<Entry[]> => {
  throw new Error('not yet')
}
