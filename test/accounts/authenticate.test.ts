import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mintKey } from '../../src/accounts/api-key.ts'
import { authenticate } from '../../src/accounts/authenticate.ts'
import { openKeyRing } from '../../src/accounts/keys.ts'
import type { GatewayError } from '../../src/errors.ts'
import { clock, type Fixture, openFixture } from '../ledger/fixture.ts'

let fixture: Fixture
let disabled: string
let revoked: string
let suspended: string

beforeAll(async () => {
  fixture = await openFixture()
  const { keys, accounts, account } = fixture
  const make = async (name: string, accountId = account.id) => keys.create({ accountId, name })
  const toDisable = await make('disabled')
  const toRevoke = await make('revoked')
  await keys.disable(toDisable.id)
  await keys.revoke(toRevoke.id)
  const other = await accounts.create({ name: 'Bob' })
  suspended = (await make('suspended', other.id)).key
  await accounts.suspend(other.id)
  disabled = toDisable.key
  revoked = toRevoke.key
})

afterAll(() => fixture.stop())

const ask = (header: string | undefined): GatewayError | string => {
  try {
    return authenticate(header, fixture.keys, fixture.accounts, clock()).id
  } catch (error) {
    return error as GatewayError
  }
}

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('knows the key behind %s', scheme => {
  expect(ask(`${scheme} ${fixture.key}`)).toBe(fixture.keyId)
})

const today = new Date().toISOString().slice(0, 10)

const refusals: [string, () => string | undefined, string, RegExp][] = [
  ['no header', () => undefined, 'missing_api_key', /Authorization: Bearer/],
  ['an empty header', () => '', 'missing_api_key', /Authorization: Bearer/],
  ['another scheme', () => `Basic ${fixture.key}`, 'malformed_authorization', /one space/],
  ['no scheme', () => fixture.key, 'malformed_authorization', /one space/],
  ['a scheme alone', () => 'Bearer', 'malformed_authorization', /one space/],
  ['a scheme and a blank', () => 'Bearer ', 'malformed_authorization', /one space/],
  ['two blanks', () => `Bearer  ${fixture.key}`, 'malformed_authorization', /one space/],
  ['a tab', () => `Bearer\t${fixture.key}`, 'malformed_authorization', /one space/],
  ['a blank before', () => ` Bearer ${fixture.key}`, 'malformed_authorization', /one space/],
  ['a second word', () => `Bearer ${fixture.key} x`, 'malformed_authorization', /one space/],
  ['two keys', () => `Bearer ${fixture.key},${fixture.key}`, 'invalid_api_key', /not valid/],
  ['a quoted key', () => `Bearer "${fixture.key}"`, 'invalid_api_key', /not valid/],
  ['an escaped line break', () => `Bearer ${fixture.key}%0A`, 'invalid_api_key', /not valid/],
  ['a literal line break', () => `Bearer ${fixture.key}\\n`, 'invalid_api_key', /not valid/],
  ['a line break', () => `Bearer ${fixture.key}\n`, 'invalid_api_key', /not valid/],
  [
    'a line break inside',
    () => `Bearer tg_\n${fixture.key.slice(3)}`,
    'invalid_api_key',
    /not valid/,
  ],
  ['another prefix', () => `Bearer sk_${fixture.key.slice(3)}`, 'invalid_api_key', /not valid/],
  [
    'a wrong checksum',
    () => `Bearer ${fixture.key.slice(0, -6)}000000`,
    'invalid_api_key',
    /not valid/,
  ],
  ['an unknown key', () => `Bearer ${mintKey(randomBytes)}`, 'invalid_api_key', /not valid/],
  [
    'a disabled key',
    () => `Bearer ${disabled}`,
    'api_key_disabled',
    new RegExp(`disabled on ${today}; enable it`),
  ],
  [
    'a revoked key',
    () => `Bearer ${revoked}`,
    'api_key_revoked',
    new RegExp(`revoked on ${today}; create a new one`),
  ],
]

test.each(refusals)('refuses %s', (_name, header, code, message) => {
  const error = ask(header())
  expect(error).toMatchObject({ code, status: 401, message: expect.stringMatching(message) })
  const challenge =
    code === 'missing_api_key'
      ? 'Bearer realm="tollgate"'
      : 'Bearer realm="tollgate", error="invalid_token"'
  expect((error as GatewayError).headers['www-authenticate']).toBe(challenge)
})

test('refuses a suspended account, which is no matter of its key', () => {
  const error = ask(`Bearer ${suspended}`) as GatewayError
  expect(error).toMatchObject({ code: 'account_suspended', status: 403 })
  expect(error.headers['www-authenticate']).toBeUndefined()
})

test('refuses an expired key from that millisecond on', async () => {
  const { db, accounts, account, keys } = fixture
  const { id, key } = await keys.create({ accountId: account.id, name: 'expires' })
  const expiresAtMs = 1_800_000_000_000
  const expire = db.prepare('UPDATE api_keys SET expires_at_ms = ? WHERE id = ?')
  await db.write([{ statement: expire, params: [expiresAtMs, id], expectChanges: 1 }])
  const ring = await openKeyRing(db, { accounts, clock, random: randomBytes, keyLimit: 20 })
  expect(authenticate(`Bearer ${key}`, ring, accounts, expiresAtMs - 1).id).toBe(id)
  expect(() => authenticate(`Bearer ${key}`, ring, accounts, expiresAtMs)).toThrow(
    expect.objectContaining({
      code: 'api_key_expired',
      message: expect.stringContaining('2027-01-15'),
    }),
  )
})
