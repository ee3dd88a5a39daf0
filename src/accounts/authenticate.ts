import type { Accounts } from './accounts.ts'
import type { ApiKey, KeyRing } from './keys.ts'

/**
 * Who is asking, from the `Authorization` header. Synchronous and without I/O.
 * Raises `missing_api_key`, `malformed_authorization`, `invalid_api_key`, `api_key_disabled`, `api_key_revoked`,
 * `api_key_expired`, `account_suspended`.
 */
export const authenticate = (
  _header: string | undefined,
  _keyRing: KeyRing,
  _accounts: Accounts,
  _nowMs: number,
): ApiKey => {
  throw new Error('not yet')
}
