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

/** How much a key was used, in the same periods as `Spending`. */
export type Activity = {
  dayRequests: number
  weekRequests: number
  monthRequests: number
  totalRequests: number
  /** To the minute; `null`: never. */
  lastUsedAtMs: number | null
}

/** The questions below, for who has no database at hand. */
export type History = {
  findGeneration: (accountId: string, generationId: string) => Promise<Generation | undefined>
  spendingOfKey: (keyId: string, nowMs: number) => Promise<Spending>
  activityOfKey: (keyId: string, nowMs: number) => Promise<Activity>
  totalsOfAccount: (accountId: string) => Promise<AccountTotals>
}

export const openHistory = (db: Database): History => ({
  findGeneration: (accountId, generationId) => findGeneration(db, accountId, generationId),
  spendingOfKey: (keyId, nowMs) => spendingOfKey(db, keyId, nowMs),
  activityOfKey: (keyId, nowMs) => activityOfKey(db, keyId, nowMs),
  totalsOfAccount: accountId => totalsOfAccount(db, accountId),
})

const dayMs = 86_400_000

/** The UTC days on which the periods that hold `nowMs` begin. */
const periodsAt = (nowMs: number): { today: string; monday: string; firstOfMonth: string } => {
  const today = dayOf(nowMs)
  const daysSinceMonday = (new Date(nowMs).getUTCDay() + 6) % 7
  const monday = dayOf(nowMs - daysSinceMonday * dayMs)
  return { today, monday, firstOfMonth: `${today.slice(0, 8)}01` }
}

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
  const { today, monday, firstOfMonth } = periodsAt(nowMs)
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

/** How often a key was used, by the day of admission, and when last. */
export const activityOfKey = async (
  db: Database,
  keyId: string,
  nowMs: number,
): Promise<Activity> => {
  const { today, monday, firstOfMonth } = periodsAt(nowMs)
  const since = 'coalesce(sum(requests) FILTER (WHERE day >= ?), 0)'
  const [row] = await db.read<{
    day: number
    week: number
    month: number
    total: number
    last_used_at_ms: number | null
  }>(
    `SELECT ${since} AS day, ${since} AS week, ${since} AS month, coalesce(sum(requests), 0) AS total,
       (SELECT last_used_at_ms FROM api_keys WHERE id = ?) AS last_used_at_ms FROM usage_days
     WHERE account_id = (SELECT account_id FROM api_keys WHERE id = ?) AND key_id = ?`,
    [today, monday, firstOfMonth, keyId, keyId, keyId],
  )
  return {
    dayRequests: row?.day ?? 0,
    weekRequests: row?.week ?? 0,
    monthRequests: row?.month ?? 0,
    totalRequests: row?.total ?? 0,
    lastUsedAtMs: row?.last_used_at_ms ?? null,
  }
}

export type AccountTotals = { creditedNanoUsd: bigint; chargedNanoUsd: bigint }

/** All that was ever credited to an account (top-ups, refunds, adjustments either way) and charged to its keys. */
export const totalsOfAccount = async (db: Database, accountId: string): Promise<AccountTotals> => {
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
