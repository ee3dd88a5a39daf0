import type { Database } from '../db/database.ts'
import type { Random } from './api-key.ts'

export type Account = {
  readonly id: string
  readonly name: string
  readonly state: 'active' | 'suspended'
  /** How many live keys it may have; `null` where the gateway's default holds. */
  readonly keyLimit: number | null
  readonly createdAtMs: number
}

/** All accounts, in memory; changes are durable before they return. Balances are the ledger's. */
export interface Accounts {
  /** The caller makes it known to the ledger: `ledger.open(account.id)`. Raises `invalid_request`, `ledger_unavailable`. */
  create(account: { name: string; keyLimit?: number | null }): Promise<Account>
  list(): Account[]
  find(id: string): Account | undefined
  /** Refused from the next request on. Raises `not_found`, `ledger_unavailable` (then suspended in memory only). */
  suspend(id: string): Promise<Account>
  resume(id: string): Promise<Account>
}

export const openAccounts = async (
  _db: Database,
  _options: { clock: () => number; random: Random },
): Promise<Accounts> => {
  throw new Error('not yet')
}
