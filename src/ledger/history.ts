/** What the ledger has on record, for those who may ask. Reads only, on the reader thread. */
import type { Database } from '../db/database.ts'
import { dayOf, type EntryKind } from './batch.ts'
import { type GenerationRow, type GenerationState, toReceipt } from './generation-row.ts'
import type { Receipt } from './receipt.ts'

export type Generation = Receipt & {
  state: GenerationState
  chargeNanoUsd: bigint
  /** The part of the price that the balance could not cover. */
  lossNanoUsd: bigint
}

export type Entry = {
  id: number
  accountId: string
  kind: EntryKind
  /** Below 0 for what left the balance. */
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

const dayMs = 86_400_000

/** `undefined` where the account has no such generation: another account's is never told from none. */
export const findGeneration = async (
  db: Database,
  accountId: string,
  generationId: string,
): Promise<Generation | undefined> => {
  const sql = 'SELECT * FROM generations WHERE id = ? AND account_id = ?'
  const [row] = await db.read<GenerationRow>(sql, [generationId, accountId])
  if (row === undefined) return undefined
  const { state, charge_nano_usd: chargeNanoUsd, loss_nano_usd: lossNanoUsd } = row
  return { ...toReceipt(row), state, chargeNanoUsd, lossNanoUsd }
}

/** What a key was charged in this UTC day, week (from Monday), month, and in all; by the day of admission. */
export const spendingOfKey = async (
  db: Database,
  keyId: string,
  nowMs: number,
): Promise<Spending> => {
  const now = new Date(nowMs)
  const today = dayOf(nowMs)
  const monday = dayOf(nowMs - ((now.getUTCDay() + 6) % 7) * dayMs)
  const firstOfMonth = `${today.slice(0, 8)}01`
  const since = 'coalesce(sum(charge_nano_usd) FILTER (WHERE day >= ?), 0)'
  const [row] = await db.read<{
    day_nano_usd: bigint
    week_nano_usd: bigint
    month_nano_usd: bigint
  }>(
    `SELECT ${since} AS day_nano_usd, ${since} AS week_nano_usd, ${since} AS month_nano_usd FROM usage_days
     WHERE account_id = (SELECT account_id FROM api_keys WHERE id = ?) AND key_id = ? AND day >= min(?, ?)`,
    [today, monday, firstOfMonth, keyId, keyId, monday, firstOfMonth],
  )
  const [key] = await db.read<{ usage_nano_usd: bigint }>(
    'SELECT usage_nano_usd FROM api_keys WHERE id = ?',
    [keyId],
  )
  return {
    dayNanoUsd: row?.day_nano_usd ?? 0n,
    weekNanoUsd: row?.week_nano_usd ?? 0n,
    monthNanoUsd: row?.month_nano_usd ?? 0n,
    totalNanoUsd: key?.usage_nano_usd ?? 0n,
  }
}

/** All that was ever credited to an account (top-ups, refunds, adjustments either way) and charged to its keys. */
export const totalsOfAccount = async (
  db: Database,
  accountId: string,
): Promise<{ creditedNanoUsd: bigint; chargedNanoUsd: bigint }> => {
  // Charges by way of the keys: of those there are few, of entries there may be millions.
  const [row] = await db.read<{ charged_nano_usd: bigint; balance_nano_usd: bigint }>(
    `SELECT coalesce((SELECT sum(usage_nano_usd) FROM api_keys WHERE account_id = accounts.id), 0) AS charged_nano_usd,
       balance_nano_usd FROM accounts WHERE id = ?`,
    [accountId],
  )
  const chargedNanoUsd = row?.charged_nano_usd ?? 0n
  return { creditedNanoUsd: (row?.balance_nano_usd ?? 0n) + chargedNanoUsd, chargedNanoUsd }
}

type EntryRow = {
  id: number
  account_id: string
  kind: EntryKind
  amount_nano_usd: bigint
  balance_after_nano_usd: bigint
  reference: string | null
  note: string | null
  created_at_ms: number
}

/** Newest first. */
export const entriesOf = async (
  db: Database,
  accountId: string,
  limit: number,
): Promise<Entry[]> => {
  const sql = 'SELECT * FROM ledger_entries WHERE account_id = ? ORDER BY id DESC LIMIT ?'
  const rows = await db.read<EntryRow>(sql, [accountId, limit])
  return rows.map(row => ({
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    amountNanoUsd: row.amount_nano_usd,
    balanceAfterNanoUsd: row.balance_after_nano_usd,
    reference: row.reference,
    note: row.note,
    createdAtMs: row.created_at_ms,
  }))
}
