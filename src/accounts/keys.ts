import type { Database } from '../db/database.ts'
import type { Accounts } from './accounts.ts'
import type { Random } from './api-key.ts'

export type KeyState = 'active' | 'disabled' | 'revoked'

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
  /** To the minute. */
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
  create(request: { accountId: string; name: string }): Promise<{ id: string; key: string; record: ApiKey }>
  /** By the hash of the secret. */
  lookUp(hash: string): ApiKey | undefined
  find(id: string): ApiKey | undefined
  list(accountId?: string): Promise<ApiKeyRecord[]>
  /**
   * Refused from the next request on. Raises `not_found`, `invalid_request` (already revoked), `ledger_unavailable`
   * (then disabled in memory, but not durably).
   */
  disable(id: string): Promise<ApiKey>
  enable(id: string): Promise<ApiKey>
  /** Final. */
  revoke(id: string): Promise<ApiKey>
}

export type KeyRingOptions = {
  accounts: Accounts
  clock: () => number
  random: Random
  /** Live keys an account may have, where it has no limit of its own. */
  keyLimit: number
}

export const openKeyRing = async (_db: Database, _options: KeyRingOptions): Promise<KeyRing> => {
  throw new Error('not yet')
}
