/** What happens before the ledger opens: balances are loaded and checked, generations of a crash are settled. */
import type { Database } from '../db/database.ts'
import type { Balance } from './balance.ts'
import { Batch } from './batch.ts'
import { prepareBatch } from './batch-statements.ts'
import type { GenerationRow } from './generation-row.ts'
import { formatUsd } from './money.ts'

const chunkSize = 1_000

type BalanceRow = { id: string; balance_nano_usd: bigint; last_nano_usd: bigint }

/** By account id. Throws where a balance differs from what its last ledger entry says. */
export const loadBalances = async (db: Database): Promise<Map<string, Balance>> => {
  const rows = await db.read<BalanceRow>(`
    SELECT id, balance_nano_usd, coalesce((
      SELECT balance_after_nano_usd FROM ledger_entries WHERE account_id = accounts.id ORDER BY id DESC LIMIT 1
    ), 0) AS last_nano_usd FROM accounts`)
  const balances = new Map<string, Balance>()
  for (const { id, balance_nano_usd: amount, last_nano_usd: last } of rows) {
    if (amount !== last) {
      throw new Error(
        `The balance of ${id} is ${formatUsd(amount)} USD, but its last ledger entry says ${formatUsd(last)}. Run \`tollgate audit\`; nothing is served until they agree.`,
      )
    }
    balances.set(id, {
      accountId: id,
      balanceNanoUsd: amount,
      heldNanoUsd: 0n,
      durableNanoUsd: amount,
      frozen: false,
    })
  }
  return balances
}

type RunningRow = Pick<
  GenerationRow,
  | 'id'
  | 'account_id'
  | 'key_id'
  | 'model'
  | 'created_at_ms'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'price_nano_usd'
>

const nextRunning = `
  SELECT id, account_id, key_id, model, created_at_ms, prompt_tokens, completion_tokens, price_nano_usd
  FROM generations WHERE state = 'running' ORDER BY id LIMIT ${chunkSize}`

/** Settles each generation left `running` at its last checkpoint; returns how many. Nobody pays above the evidence. */
export const recover = async (
  db: Database,
  balances: Map<string, Balance>,
  clock: () => number,
): Promise<number> => {
  const statements = prepareBatch(db)
  let recovered = 0
  for (;;) {
    const rows = await db.read<RunningRow>(nextRunning)
    if (rows.length === 0) return recovered
    const batch = new Batch(statements, clock())
    for (const row of rows) addRecovered(batch, row, balances)
    await db.write(batch.toOperations())
    batch.committed()
    recovered += rows.length
  }
}

const addRecovered = (batch: Batch, row: RunningRow, balances: Map<string, Balance>): void => {
  const balance = balances.get(row.account_id)
  if (balance === undefined)
    throw new Error(`Generation ${row.id} belongs to no account: run \`tollgate audit\`.`)
  const price = row.price_nano_usd
  const chargeNanoUsd = price < balance.balanceNanoUsd ? price : balance.balanceNanoUsd
  balance.balanceNanoUsd -= chargeNanoUsd
  batch.addRecovered(row.id, chargeNanoUsd, price - chargeNanoUsd)
  batch.addEnding(balance, {
    generationId: row.id,
    keyId: row.key_id,
    model: row.model,
    createdAtMs: row.created_at_ms,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    chargeNanoUsd,
    exposureNanoUsd: 0n,
  })
}
