/** API keys. The secret is told once and never stored; its hash is what a request is recognised by. */
import type { Database, Operation, StatementId } from '../db/database.ts'
import { rowIds } from '../db/row-ids.ts'
import { GatewayError } from '../errors.ts'
import type { Accounts } from './accounts.ts'
import { hashKey, hintOf, mintKey, type Random } from './api-key.ts'
import { durably, requireName } from './durably.ts'

export type KeyState = 'active' | 'disabled' | 'revoked'

/** Times are Unix milliseconds. */
export type ApiKey = {
  readonly id: string
  readonly accountId: string
  readonly name: string
  /** `tg_ab12…wxyz`: what is displayed. */
  readonly hint: string
  readonly state: KeyState
  readonly createdAtMs: number
  readonly stateChangedAtMs: number
  readonly expiresAtMs: number | null
}

/** With what the ledger writes about it. */
export type ApiKeyRecord = ApiKey & {
  /** To the minute; `null`: never. */
  readonly lastUsedAtMs: number | null
  readonly usageNanoUsd: bigint
  /** What aborted requests may have cost the operator. */
  readonly exposureNanoUsd: bigint
}

/** All API keys, in memory by hash; changes are durable before they return. */
export interface KeyRing {
  /**
   * `key` is the secret, told this once. Raises `not_found` (account), `invalid_request` (name taken or unfit, cap of
   * live keys reached), `ledger_unavailable`.
   */
  create(request: {
    accountId: string
    name: string
  }): Promise<{ id: string; key: string; record: ApiKey }>
  /** By the hash of the secret. */
  lookUp(hash: string): ApiKey | undefined
  find(id: string): ApiKey | undefined
  list(accountId?: string): Promise<ApiKeyRecord[]>
  /**
   * Refused from the next request on. Raises `not_found`, `invalid_request` (already revoked), `ledger_unavailable`
   * (then disabled in memory, but not durably).
   */
  disable(id: string): Promise<ApiKey>
  /** Raises as `disable` does, but on `ledger_unavailable` the key stays disabled. */
  enable(id: string): Promise<ApiKey>
  /** Final. Raises as `disable` does. */
  revoke(id: string): Promise<ApiKey>
}

export type KeyRingOptions = {
  accounts: Accounts
  /** Unix milliseconds. */
  clock: () => number
  random: Random
  /** Live keys an account may have, where it has no limit of its own. */
  keyLimit: number
}

type KeyRow = {
  id: string
  account_id: string
  name: string
  hash: string
  hint: string
  state: KeyState
  created_at_ms: number
  state_changed_at_ms: number
  expires_at_ms: number | null
}

type RecordRow = KeyRow & {
  last_used_at_ms: number | null
  usage_nano_usd: bigint
  exposure_nano_usd: bigint
}

const columns =
  'id, account_id, name, hash, hint, state, created_at_ms, state_changed_at_ms, expires_at_ms'
const recordColumns = `${columns}, last_used_at_ms, usage_nano_usd, exposure_nano_usd`

export const openKeyRing = async (db: Database, options: KeyRingOptions): Promise<KeyRing> => {
  const rows = await db.read<KeyRow>(`SELECT ${columns} FROM api_keys ORDER BY id`)
  return new KeyRingInMemory(db, rows, options)
}

class KeyRingInMemory implements KeyRing {
  readonly #db: Database
  readonly #options: KeyRingOptions
  readonly #byHash = new Map<string, ApiKey>()
  readonly #hashes = new Map<string, string>()
  /** Names of the live keys of each account, those being created included: what caps and unique names rest on. */
  readonly #liveNames = new Map<string, Set<string>>()
  readonly #newId: () => string
  readonly #insert: StatementId
  readonly #updateState: StatementId

  constructor(db: Database, rows: KeyRow[], options: KeyRingOptions) {
    this.#db = db
    this.#options = options
    this.#newId = rowIds('key_', options.clock, options.random)
    this.#insert = db.prepare(`INSERT INTO api_keys
      (id, account_id, name, hash, hint, state, created_at_ms, state_changed_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#updateState = db.prepare(
      'UPDATE api_keys SET state = ?, state_changed_at_ms = ? WHERE id = ?',
    )
    for (const row of rows) {
      this.#put(row.hash, toApiKey(row))
      if (row.state !== 'revoked') this.#namesOf(row.account_id).add(row.name)
    }
  }

  async create(request: {
    accountId: string
    name: string
  }): Promise<{ id: string; key: string; record: ApiKey }> {
    const { accountId } = request
    const name = requireName(request.name)
    this.#requireRoom(accountId, name)
    // Taken before the first await, so that concurrent creations see each other.
    const names = this.#namesOf(accountId).add(name)
    const key = mintKey(this.#options.random)
    const hash = hashKey(key)
    const nowMs = this.#options.clock()
    const record: ApiKey = {
      ...{ id: this.#newId(), accountId, name, hint: hintOf(key), state: 'active' },
      ...{ createdAtMs: nowMs, stateChangedAtMs: nowMs, expiresAtMs: null },
    }
    try {
      const params = [record.id, accountId, name, hash, record.hint, record.state, nowMs, nowMs]
      await this.#save(
        { statement: this.#insert, params },
        'The key could not be saved; try again.',
      )
    } catch (error) {
      names.delete(name)
      throw error
    }
    this.#put(hash, record)
    return { id: record.id, key, record }
  }

  #requireRoom(accountId: string, name: string): void {
    const account = this.#options.accounts.find(accountId)
    if (account === undefined)
      throw new GatewayError('not_found', `There is no account ${accountId}.`)
    const names = this.#namesOf(accountId)
    const limit = account.keyLimit ?? this.#options.keyLimit
    if (names.size >= limit) {
      const message = `This account has ${names.size} live keys of at most ${limit}. Revoke one that is no longer used.`
      throw new GatewayError('invalid_request', message, {
        metadata: { key_limit: limit, keys: names.size },
      })
    }
    if (names.has(name)) {
      throw new GatewayError(
        'invalid_request',
        `This account has a live key named ${name} already.`,
        { param: 'name' },
      )
    }
  }

  lookUp(hash: string): ApiKey | undefined {
    return this.#byHash.get(hash)
  }

  find(id: string): ApiKey | undefined {
    const hash = this.#hashes.get(id)
    return hash === undefined ? undefined : this.#byHash.get(hash)
  }

  async list(accountId?: string): Promise<ApiKeyRecord[]> {
    const rows =
      accountId === undefined
        ? await this.#db.read<RecordRow>(`SELECT ${recordColumns} FROM api_keys ORDER BY id`)
        : await this.#db.read<RecordRow>(
            `SELECT ${recordColumns} FROM api_keys WHERE account_id = ? ORDER BY id`,
            [accountId],
          )
    return rows.map(row => ({
      // What is in memory decides, also where it could not be saved.
      ...(this.find(row.id) ?? toApiKey(row)),
      lastUsedAtMs: row.last_used_at_ms,
      usageNanoUsd: row.usage_nano_usd,
      exposureNanoUsd: row.exposure_nano_usd,
    }))
  }

  async disable(id: string): Promise<ApiKey> {
    return this.#refuseFromNowOn(this.#requireLive(id), 'disabled')
  }

  async enable(id: string): Promise<ApiKey> {
    const key = this.#requireLive(id)
    const active: ApiKey = { ...key, state: 'active', stateChangedAtMs: this.#options.clock() }
    await this.#saveState(active)
    // Whoever disabled or revoked it meanwhile wrote after us, and so has the last word.
    if (this.find(id) !== key) return this.#require(id)
    this.#replace(active)
    return active
  }

  async revoke(id: string): Promise<ApiKey> {
    const revoked = await this.#refuseFromNowOn(this.#require(id), 'revoked')
    this.#namesOf(revoked.accountId).delete(revoked.name)
    return revoked
  }

  /** In memory first: from here on it is refused, whatever the disk does. Again, it saves what could not be saved. */
  async #refuseFromNowOn(key: ApiKey, state: 'disabled' | 'revoked'): Promise<ApiKey> {
    const stateChangedAtMs = key.state === state ? key.stateChangedAtMs : this.#options.clock()
    const refused: ApiKey = { ...key, state, stateChangedAtMs }
    this.#replace(refused)
    await this.#saveState(refused)
    return refused
  }

  async #saveState(key: ApiKey): Promise<void> {
    const params = [key.state, key.stateChangedAtMs, key.id]
    const otherwise =
      key.state === 'active'
        ? 'Not saved, so the key stays disabled; try again.'
        : `The key is refused until the gateway restarts, but that it is ${key.state} was not saved; try again.`
    await this.#save({ statement: this.#updateState, params, expectChanges: 1 }, otherwise)
  }

  #save(operation: Operation, otherwise: string): Promise<void> {
    return durably(this.#db, [operation], otherwise)
  }

  #require(id: string): ApiKey {
    const key = this.find(id)
    if (key === undefined) throw new GatewayError('not_found', `There is no API key ${id}.`)
    return key
  }

  #requireLive(id: string): ApiKey {
    const key = this.#require(id)
    if (key.state !== 'revoked') return key
    throw new GatewayError(
      'invalid_request',
      `The API key ${id} is revoked, and that is final. Create a new one.`,
    )
  }

  #namesOf(accountId: string): Set<string> {
    let names = this.#liveNames.get(accountId)
    if (names === undefined) {
      names = new Set()
      this.#liveNames.set(accountId, names)
    }
    return names
  }

  #put(hash: string, key: ApiKey): void {
    this.#byHash.set(hash, key)
    this.#hashes.set(key.id, hash)
  }

  #replace(key: ApiKey): void {
    const hash = this.#hashes.get(key.id)
    if (hash !== undefined) this.#byHash.set(hash, key)
  }
}

const toApiKey = (row: KeyRow): ApiKey => ({
  id: row.id,
  accountId: row.account_id,
  name: row.name,
  hint: row.hint,
  state: row.state,
  createdAtMs: row.created_at_ms,
  stateChangedAtMs: row.state_changed_at_ms,
  expiresAtMs: row.expires_at_ms,
})
