/** Who may ask about an account: the holder of one of its keys, and not too often at once. */
import type { Accounts } from '../accounts/accounts.ts'
import { authenticate } from '../accounts/authenticate.ts'
import type { ApiKey, KeyRing } from '../accounts/keys.ts'
import { type ErrorCode, GatewayError } from '../errors.ts'

type Access = {
  keyRing: KeyRing
  accounts: Accounts
  /** Unix milliseconds. */
  clock: () => number
}

/** What `AccountAccess` can raise. */
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
]

/** All of them wait for one reader of the database. They don't take the places of chats: who is busy may still look. */
const mostReads = { total: 512, perKey: 32 }

export class AccountAccess {
  readonly #access: Access
  readonly #perKey = new Map<string, number>()
  #total = 0

  constructor(access: Access) {
    this.#access = access
  }

  /** Answers the holder of an API key. Raises `accessRefusals`, and what `answer` does. */
  async withKey<T>(
    authorization: string | undefined,
    answer: (key: ApiKey, nowMs: number) => Promise<T>,
  ): Promise<T> {
    const { keyRing, accounts, clock } = this.#access
    const nowMs = clock()
    const key = authenticate(authorization, keyRing, accounts, nowMs)
    this.#enter(key.id)
    try {
      return await answer(key, nowMs)
    } finally {
      this.#leave(key.id)
    }
  }

  #enter(keyId: string): void {
    const open = this.#perKey.get(keyId) ?? 0
    const headers = { 'retry-after': '1' }
    if (open >= mostReads.perKey) {
      const limit = mostReads.perKey
      throw new GatewayError(
        'concurrency_limit_exceeded',
        `This key has ${open} questions about its account under way; the limit is ${limit}.`,
        {
          metadata: { limit },
          headers: {
            ...headers,
            'x-ratelimit-limit': String(limit),
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset': '1',
          },
        },
      )
    }
    if (this.#total >= mostReads.total)
      throw new GatewayError('overloaded', 'Too many questions at once; try again shortly.', {
        headers,
      })
    this.#perKey.set(keyId, open + 1)
    this.#total++
  }

  #leave(keyId: string): void {
    const open = this.#perKey.get(keyId) ?? 0
    if (open > 1) this.#perKey.set(keyId, open - 1)
    else this.#perKey.delete(keyId)
    this.#total--
  }
}
