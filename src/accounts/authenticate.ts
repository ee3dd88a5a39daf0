import { type ErrorCode, GatewayError } from '../errors.ts'
import type { Accounts } from './accounts.ts'
import { hashKey, hasKeyShape } from './api-key.ts'
import type { ApiKey, KeyRing } from './keys.ts'

/** RFC 6750, section 3: `error` only where a credential was sent. */
const noCredential = 'Bearer realm="tollgate"'
const badCredential = `${noCredential}, error="invalid_token"`

const bearer = /^bearer ([^ ]*)$/i

/**
 * Who is asking, from the `Authorization` header. Synchronous and without I/O.
 * Raises `missing_api_key`, `malformed_authorization`, `invalid_api_key`, `api_key_disabled`, `api_key_revoked`,
 * `api_key_expired`, `account_suspended`. Only the holder of a real key learns more than that it is not valid.
 */
export const authenticate = (
  header: string | undefined,
  keyRing: KeyRing,
  accounts: Accounts,
  nowMs: number,
): ApiKey => {
  const key = keyRing.lookUp(hashKey(secretIn(header)))
  if (key === undefined) throw refuse('invalid_api_key', 'This API key is not valid.')
  if (key.state !== 'active') throw refuseByState(key)
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    throw refuse(
      'api_key_expired',
      `This API key expired on ${dayOf(key.expiresAtMs)}; create a new one in the console.`,
    )
  }
  if (accounts.find(key.accountId)?.state !== 'active') {
    throw new GatewayError(
      'account_suspended',
      'This account is suspended; ask the operator of this gateway.',
    )
  }
  return key
}

const secretIn = (header: string | undefined): string => {
  if (header === undefined || header === '') {
    const message = 'No API key: send the header `Authorization: Bearer <API_KEY>`.'
    throw new GatewayError('missing_api_key', message, {
      headers: { 'www-authenticate': noCredential },
    })
  }
  const secret = bearer.exec(header)?.[1]
  if (secret === undefined || secret === '') {
    throw refuse(
      'malformed_authorization',
      'The header must read `Authorization: Bearer <API_KEY>`, with one space.',
    )
  }
  if (!hasKeyShape(secret)) throw refuse('invalid_api_key', 'This API key is not valid.')
  return secret
}

const refuseByState = ({ state, stateChangedAtMs }: ApiKey): GatewayError =>
  state === 'revoked'
    ? refuse(
        'api_key_revoked',
        `This key was revoked on ${dayOf(stateChangedAtMs)}; create a new one in the console.`,
      )
    : refuse(
        'api_key_disabled',
        `This key was disabled on ${dayOf(stateChangedAtMs)}; enable it in the console.`,
      )

const refuse = (code: ErrorCode, message: string): GatewayError =>
  new GatewayError(code, message, { headers: { 'www-authenticate': badCredential } })

const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10)
