/** Who may ask about an account: the holder of one of its keys, and not too often at once. */
import type { Accounts } from '../accounts/accounts.ts'
import { authenticate } from '../accounts/authenticate.ts'
import type { ApiKey, KeyRing } from '../accounts/keys.ts'
import type { ErrorCode } from '../errors.ts'

/** How many requests there may be at once, in all and of one key; shared with the data plane. */
export type Places = {
  requireRoom: () => void
  enter: (keyId: string) => void
  leave: (keyId: string) => void
}

export type AccountAccess = {
  keyRing: KeyRing
  accounts: Accounts
  inFlight: Places
  /** Unix milliseconds. */
  clock: () => number
}

/** What `withKey` can raise. */
export const accessRefusals: readonly ErrorCode[] = [
  'missing_api_key',
  'malformed_authorization',
  'invalid_api_key',
  'api_key_disabled',
  'api_key_revoked',
  'api_key_expired',
  'account_suspended',
  'concurrency_limit_exceeded',
  'overloaded',
  'draining',
]

/** Answers the holder of an API key, in one of that key's places. Raises `accessRefusals`. */
export const withKey = async <T>(
  { keyRing, accounts, inFlight, clock }: AccountAccess,
  authorization: string | undefined,
  answer: (key: ApiKey) => Promise<T>,
): Promise<T> => {
  inFlight.requireRoom()
  const key = authenticate(authorization, keyRing, accounts, clock())
  inFlight.enter(key.id)
  try {
    return await answer(key)
  } finally {
    inFlight.leave(key.id)
  }
}
