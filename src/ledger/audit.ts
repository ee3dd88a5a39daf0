/**
 * Checks the invariants of the money, all against one snapshot and on a thread of its own: it may run while the gateway
 * is at work, and sees only what commits left whole.
 */
import type { Database, Read } from '../db/database.ts'
import { chargeOf } from './charge.ts'
import { type GenerationRow, toApplied } from './generation-row.ts'
import { formatUsd } from './money.ts'
import type { Receipt } from './receipt.ts'

export type Finding = {
  invariant: Invariant
  accountId: string | null
  /** Of the row in question: a generation, an entry, a key. */
  id: string | null
  /** USD as decimal strings, where it is about money. */
  expected: string
  found: string
}

export type Invariant = keyof typeof checks | 'price_is_usage_by_rates'

export type AuditOptions = {
  /** The gateway is at work, so generations may be running. Default false. */
  atWork?: boolean
  /** Of each invariant; a broken ledger need not be told whole. Default 100. */
  mostFindings?: number
}

/**
 * Each selects what breaks its invariant: `account_id`, `id`, and what was expected and found (both `*_nano_usd` for
 * money). `IS NOT`, since a missing row is a difference too.
 */
const checks = {
  balance_is_sum_of_entries: `
    SELECT coalesce(accounts.id, account_id) AS account_id, NULL AS id,
      coalesce(sum_nano_usd, 0) AS expected_nano_usd, balance_nano_usd AS found_nano_usd
    FROM accounts FULL JOIN
      (SELECT account_id, sum(amount_nano_usd) AS sum_nano_usd FROM ledger_entries GROUP BY account_id) ON account_id = accounts.id
    WHERE balance_nano_usd IS NOT coalesce(sum_nano_usd, 0)`,
  balance_is_last_entry: `
    SELECT accounts.id AS account_id, last.id AS id,
      coalesce(balance_after_nano_usd, 0) AS expected_nano_usd, balance_nano_usd AS found_nano_usd
    FROM accounts LEFT JOIN ledger_entries AS last
      ON last.id = (SELECT max(id) FROM ledger_entries WHERE account_id = accounts.id)
    WHERE balance_nano_usd <> coalesce(balance_after_nano_usd, 0)`,
  balance_after_is_running_sum: `
    SELECT account_id, id, expected_nano_usd, found_nano_usd FROM (
      SELECT account_id, id, balance_after_nano_usd AS found_nano_usd,
        amount_nano_usd + coalesce(lag(balance_after_nano_usd) OVER (PARTITION BY account_id ORDER BY id), 0) AS expected_nano_usd
      FROM ledger_entries)
    WHERE found_nano_usd <> expected_nano_usd`,
  balance_is_not_negative: `
    SELECT id AS account_id, NULL AS id, 0 AS expected_nano_usd, balance_nano_usd AS found_nano_usd
    FROM accounts WHERE balance_nano_usd < 0`,
  charge_and_loss_are_price: `
    SELECT account_id, id, price_nano_usd AS expected_nano_usd, charge_nano_usd + loss_nano_usd AS found_nano_usd
    FROM generations WHERE state <> 'running' AND charge_nano_usd + loss_nano_usd <> price_nano_usd`,
  one_charge_per_generation: `
    SELECT account_id, reference AS id, '1 charge' AS expected, count(*) || ' charges' AS found
    FROM ledger_entries WHERE kind = 'charge' GROUP BY reference HAVING count(*) > 1`,
  charge_is_of_generation: `
    SELECT entry.account_id, reference AS id, -amount_nano_usd AS expected_nano_usd, charge_nano_usd AS found_nano_usd
    FROM ledger_entries AS entry LEFT JOIN generations ON generations.id = reference AND generations.account_id = entry.account_id
    WHERE kind = 'charge' AND charge_nano_usd IS NOT -amount_nano_usd`,
  charge_has_entry: `
    SELECT account_id, id, charge_nano_usd AS expected_nano_usd, 0 AS found_nano_usd FROM generations
    WHERE charge_nano_usd > 0
      AND NOT EXISTS (SELECT 1 FROM ledger_entries WHERE reference = generations.id AND kind = 'charge')`,
  none_runs_at_rest: `
    SELECT account_id, id, 'settled' AS expected, state AS found FROM generations WHERE state = 'running'`,
  days_are_charges: `
    SELECT id AS account_id, NULL AS id, expected_nano_usd, found_nano_usd FROM (
      SELECT id,
        coalesce((SELECT -sum(amount_nano_usd) FROM ledger_entries WHERE account_id = accounts.id AND kind = 'charge'), 0) AS expected_nano_usd,
        coalesce((SELECT sum(charge_nano_usd) FROM usage_days WHERE account_id = accounts.id), 0) AS found_nano_usd
      FROM accounts)
    WHERE found_nano_usd <> expected_nano_usd`,
  key_usage_is_charges: `
    SELECT account_id, id, expected_nano_usd, found_nano_usd FROM (
      SELECT account_id, id, usage_nano_usd AS found_nano_usd,
        coalesce((SELECT sum(charge_nano_usd) FROM generations WHERE key_id = api_keys.id), 0) AS expected_nano_usd
      FROM api_keys)
    WHERE found_nano_usd <> expected_nano_usd`,
  key_usage_is_days: `
    SELECT account_id, id, expected_nano_usd, found_nano_usd FROM (
      SELECT account_id, id, usage_nano_usd AS found_nano_usd, coalesce((
        SELECT sum(charge_nano_usd) FROM usage_days WHERE account_id = api_keys.account_id AND key_id = api_keys.id), 0) AS expected_nano_usd
      FROM api_keys)
    WHERE found_nano_usd <> expected_nano_usd`,
} as const

type CheckRow = {
  account_id: string | null
  id: string | number | null
  expected?: string
  found?: string
  expected_nano_usd?: bigint | null
  found_nano_usd?: bigint | null
}

const stepRows = 2_000

/** Empty where all holds. Rejects where the database can't be read. */
export const audit = (db: Database, options: AuditOptions = {}): Promise<Finding[]> => {
  const { atWork = false, mostFindings = 100 } = options
  return db.snapshot(async read => {
    const findings: Finding[] = []
    // `entries` loses what the names are; they are the table's own.
    for (const [invariant, sql] of Object.entries(checks) as [keyof typeof checks, string][]) {
      if (atWork && invariant === 'none_runs_at_rest') continue
      const rows = await read<CheckRow>(`${sql} LIMIT ${mostFindings}`)
      for (const row of rows) findings.push(toFinding(invariant, row))
    }
    return findings.concat(await checkPrices(read, mostFindings))
  })
}

const toFinding = (invariant: Invariant, row: CheckRow): Finding => ({
  invariant,
  accountId: row.account_id,
  id: row.id === null ? null : String(row.id),
  expected: row.expected ?? usdOrNothing(row.expected_nano_usd),
  found: row.found ?? usdOrNothing(row.found_nano_usd),
})

const usdOrNothing = (nanoUsd: bigint | null | undefined): string =>
  nanoUsd == null ? 'nothing' : formatUsd(nanoUsd)

type PricedRow = Pick<GenerationRow, 'id' | 'account_id' | 'price_nano_usd' | 'usage' | 'applied'>

/** The one check that SQL can't do: the price computed again from usage and rates. A step at a time. */
const checkPrices = async (read: Read, mostFindings: number): Promise<Finding[]> => {
  const findings: Finding[] = []
  let after = ''
  for (;;) {
    const sql = `SELECT id, account_id, price_nano_usd, usage, applied FROM generations WHERE id > ? ORDER BY id LIMIT ${stepRows}`
    const rows = await read<PricedRow>(sql, [after])
    for (const row of rows) {
      const expected = priceOf(row)
      if (expected === row.price_nano_usd) continue
      findings.push({
        ...{ invariant: 'price_is_usage_by_rates', accountId: row.account_id, id: row.id },
        ...{ expected: usdOrNothing(expected), found: formatUsd(row.price_nano_usd) },
      })
      if (findings.length >= mostFindings) return findings
    }
    if (rows.length < stepRows) return findings
    after = rows.at(-1)?.id ?? after
  }
}

/** `undefined` where usage or rates are not such. */
const priceOf = ({ usage, applied }: PricedRow): bigint | undefined => {
  try {
    // What is not a usage fails here or in `chargeOf`.
    return chargeOf(JSON.parse(usage) as Receipt['usage'], toApplied(applied))
  } catch {
    return undefined
  }
}
