/** Who owns balances and keys. What is in a balance is the ledger's. */
import type { Database, StatementId } from '../db/database.ts'
import { rowIds } from '../db/row-ids.ts'
import { GatewayError } from '../errors.ts'
import type { Random } from './api-key.ts'
import { durably, requireName } from './durably.ts'

export type Account = {
  readonly id: string
  readonly name: string
  readonly state: 'active' | 'suspended'
  /** How many live keys it may have; `null` where the gateway's default holds. */
  readonly keyLimit: number | null
  /** Unix milliseconds. */
  readonly createdAtMs: number
}

/** All accounts, in memory; changes are durable before they return. */
export interface Accounts {
  /** The caller makes it known to the ledger: `ledger.open(account.id)`. Raises `invalid_request`, `ledger_unavailable`. */
  create(account: { name: string; keyLimit?: number | null }): Promise<Account>
  list(): Account[]
  find(id: string): Account | undefined
  /** Refused from the next request on. Raises `not_found`, `ledger_unavailable` (then suspended in memory only). */
  suspend(id: string): Promise<Account>
  /** Raises `not_found`, `ledger_unavailable` (then still suspended). */
  resume(id: string): Promise<Account>
}

type AccountRow = {
  id: string
  name: string
  state: Account['state']
  key_limit: number | null
  created_at_ms: number
}

export type AccountsOptions = {
  /** Unix milliseconds. */
  clock: () => number
  random: Random
}

export const openAccounts = async (db: Database, options: AccountsOptions): Promise<Accounts> => {
  const rows = await db.read<AccountRow>(
    'SELECT id, name, state, key_limit, created_at_ms FROM accounts ORDER BY id',
  )
  const accounts = rows.map(row => ({
    id: row.id,
    name: row.name,
    state: row.state,
    keyLimit: row.key_limit,
    createdAtMs: row.created_at_ms,
  }))
  return new AccountsInMemory(db, accounts, options)
}

class AccountsInMemory implements Accounts {
  readonly #db: Database
  readonly #accounts: Map<string, Account>
  readonly #clock: () => number
  readonly #newId: () => string
  readonly #insert: StatementId
  readonly #updateState: StatementId

  constructor(db: Database, accounts: Account[], { clock, random }: AccountsOptions) {
    this.#db = db
    this.#accounts = new Map(accounts.map(account => [account.id, account]))
    this.#clock = clock
    this.#newId = rowIds('acc_', clock, random)
    this.#insert = db.prepare(
      'INSERT INTO accounts (id, name, state, key_limit, created_at_ms) VALUES (?, ?, ?, ?, ?)',
    )
    this.#updateState = db.prepare('UPDATE accounts SET state = ? WHERE id = ?')
  }

  async create({
    name,
    keyLimit = null,
  }: {
    name: string
    keyLimit?: number | null
  }): Promise<Account> {
    if (keyLimit !== null && !(Number.isSafeInteger(keyLimit) && keyLimit >= 0)) {
      throw new GatewayError('invalid_request', 'A limit of keys is a whole number.', {
        param: 'key_limit',
      })
    }
    const account: Account = {
      id: this.#newId(),
      name: requireName(name),
      state: 'active',
      keyLimit,
      createdAtMs: this.#clock(),
    }
    const params = [account.id, account.name, account.state, keyLimit, account.createdAtMs]
    await durably(
      this.#db,
      [{ statement: this.#insert, params }],
      'The account could not be saved; try again.',
    )
    this.#accounts.set(account.id, account)
    return account
  }

  list(): Account[] {
    return [...this.#accounts.values()]
  }

  find(id: string): Account | undefined {
    return this.#accounts.get(id)
  }

  async suspend(id: string): Promise<Account> {
    const suspended: Account = { ...this.#require(id), state: 'suspended' }
    // In memory first: from here on it is refused, whatever the disk does.
    this.#accounts.set(id, suspended)
    await this.#save(suspended, 'Suspended until the gateway restarts, but not saved; try again.')
    return suspended
  }

  async resume(id: string): Promise<Account> {
    const account = this.#require(id)
    const active: Account = { ...account, state: 'active' }
    await this.#save(active, 'Not saved, so still suspended; try again.')
    // Whoever suspended it meanwhile wrote after us, and so has the last word.
    if (this.#require(id) !== account) return this.#require(id)
    this.#accounts.set(id, active)
    return active
  }

  #require(id: string): Account {
    const account = this.#accounts.get(id)
    if (account === undefined) throw new GatewayError('not_found', `There is no account ${id}.`)
    return account
  }

  #save({ id, state }: Account, otherwise: string): Promise<void> {
    return durably(
      this.#db,
      [{ statement: this.#updateState, params: [state, id], expectChanges: 1 }],
      otherwise,
    )
  }
}
