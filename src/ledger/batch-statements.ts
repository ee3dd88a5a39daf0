/** The statements that a batch is made of. */
import type { Database, Operation, StatementId, Value } from '../db/database.ts'
import { generationColumns, upsertGenerations } from './generation-row.ts'

/** `wide` takes `wideRows` rows at once, which spares SQLite most of the work around each. */
type BatchStatement = { width: number; one: StatementId; wide?: StatementId }

export type BatchStatements = {
  [K in 'generation' | 'recovery' | 'entry' | 'balance' | 'key' | 'day' | 'probe']: BatchStatement
}

const wideRows = 8

const insertEntries = (rows: number): string => `INSERT INTO ledger_entries
  (account_id, kind, amount_nano_usd, balance_after_nano_usd, reference, note, created_at_ms)
  VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`

const recover = `UPDATE generations SET state = 'recovered', charge_nano_usd = ?, loss_nano_usd = ?
  WHERE id = ? AND state = 'running'`

/** The old balance is compared too: whoever else had changed it would be found out, not overwritten. */
const updateBalance =
  'UPDATE accounts SET balance_nano_usd = ? WHERE id = ? AND balance_nano_usd = ?'

const updateKey = `UPDATE api_keys SET usage_nano_usd = usage_nano_usd + ?, exposure_nano_usd = exposure_nano_usd + ?,
  last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?) WHERE id = ?`

const upsertDay = `INSERT INTO usage_days
  (account_id, key_id, day, model, requests, prompt_tokens, completion_tokens, charge_nano_usd)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
    prompt_tokens = prompt_tokens + excluded.prompt_tokens,
    completion_tokens = completion_tokens + excluded.completion_tokens,
    charge_nano_usd = charge_nano_usd + excluded.charge_nano_usd`

const upsertProbe = `INSERT INTO probes (id, probed_at_ms) VALUES (1, ?)
  ON CONFLICT DO UPDATE SET probed_at_ms = excluded.probed_at_ms`

/** Registers them; to be done once for a ledger. */
export const prepareBatch = (db: Database): BatchStatements => ({
  generation: {
    width: generationColumns,
    one: db.prepare(upsertGenerations(1)),
    wide: db.prepare(upsertGenerations(wideRows)),
  },
  recovery: { width: 3, one: db.prepare(recover) },
  entry: { width: 7, one: db.prepare(insertEntries(1)), wide: db.prepare(insertEntries(wideRows)) },
  balance: { width: 3, one: db.prepare(updateBalance) },
  key: { width: 4, one: db.prepare(updateKey) },
  day: { width: 8, one: db.prepare(upsertDay) },
  probe: { width: 1, one: db.prepare(upsertProbe) },
})

/** None for no rows, else as few as will do. `params` are flat; each row must change `expectChanges`, where given. */
export const operationsFor = (
  { width, one, wide }: BatchStatement,
  params: Value[],
  expectChanges?: number,
): Operation[] => {
  if (params.length === 0) return []
  const operation = (statement: StatementId, rowsEach: number, some: Value[]): Operation => ({
    statement,
    rows: some.length / width / rowsEach,
    params: some,
    ...(expectChanges === undefined ? {} : { expectChanges: expectChanges * rowsEach }),
  })
  const wideParams = params.length - (params.length % (width * wideRows))
  if (wide === undefined || wideParams === 0) return [operation(one, 1, params)]
  const operations = [operation(wide, wideRows, params.slice(0, wideParams))]
  if (wideParams < params.length) operations.push(operation(one, 1, params.slice(wideParams)))
  return operations
}
