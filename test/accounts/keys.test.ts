import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openAccounts } from '../../src/accounts/accounts.ts'
import { hashKey } from '../../src/accounts/api-key.ts'
import { authenticate } from '../../src/accounts/authenticate.ts'
import { type KeyRing, openKeyRing } from '../../src/accounts/keys.ts'
import { clock, type Fixture, openFixture, openRaw } from '../ledger/fixture.ts'

let fixture: Fixture

beforeEach(async () => {
  fixture = await openFixture()
})

afterEach(() => fixture.stop())

const reopenKeys = async (): Promise<KeyRing> => {
  const accounts = await openAccounts(fixture.db, { clock, random: randomBytes })
  return openKeyRing(fixture.db, { accounts, clock, random: randomBytes, keyLimit: 20 })
}

const failNextCommit = (): void => {
  Atomics.store(fixture.faults, 0, 1)
}

test('keeps only the hash of a key', async () => {
  const { keys, account, db } = fixture
  const { id, key, record } = await keys.create({ accountId: account.id, name: '  mine ' })
  expect(record).toMatchObject({
    id,
    name: 'mine',
    state: 'active',
    hint: `${key.slice(0, 7)}…${key.slice(-4)}`,
  })
  const rows = await db.read<{ id: string; hash: string; row: string }>(
    'SELECT id, hash, json_array(id, name, hash, hint, state) AS row FROM api_keys',
  )
  expect(rows.map(({ row }) => row).join()).not.toContain(key.slice(7, -4))
  expect(rows.find(row => row.id === id)?.hash).toBe(hashKey(key))
  expect((await reopenKeys()).lookUp(hashKey(key))).toEqual(record)
})

test('holds the cap under concurrent creation', async () => {
  const { keys, account } = fixture
  const attempts = Array.from({ length: 50 }, (_, index) =>
    keys.create({ accountId: account.id, name: `key ${index}` }),
  )
  const outcomes = await Promise.allSettled(attempts)
  // The fixture made one before.
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(19)
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ code: 'invalid_request', metadata: { key_limit: 20 } })
  }
  expect(await keys.list(account.id)).toHaveLength(20)
})

test('counts active and disabled keys, revoked ones not, against the limit of the account', async () => {
  const { keys, accounts } = fixture
  const { id: accountId } = await accounts.create({ name: 'Small', keyLimit: 2 })
  const first = await keys.create({ accountId, name: 'one' })
  const second = await keys.create({ accountId, name: 'two' })
  await keys.disable(first.id)
  await expect(keys.create({ accountId, name: 'three' })).rejects.toMatchObject({
    metadata: { key_limit: 2, keys: 2 },
  })
  await keys.revoke(second.id)
  await keys.create({ accountId, name: 'three' })
  await expect(keys.create({ accountId, name: 'four' })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('has each name once among the live keys of an account', async () => {
  const { keys, accounts, account, keyId } = fixture
  await expect(keys.create({ accountId: account.id, name: 'first' })).rejects.toMatchObject({
    param: 'name',
  })
  await keys.revoke(keyId)
  await keys.create({ accountId: account.id, name: 'first' })
  const { id: accountId } = await accounts.create({ name: 'Bob' })
  await keys.create({ accountId, name: 'first' })
  const twice = await Promise.allSettled([
    keys.create({ accountId, name: 'x' }),
    keys.create({ accountId, name: 'x' }),
  ])
  expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test.each(['', '   ', 'x'.repeat(101)])('refuses %j as a name', async name => {
  const { keys, accounts, account } = fixture
  await expect(keys.create({ accountId: account.id, name })).rejects.toMatchObject({
    code: 'invalid_request',
    param: 'name',
  })
  await expect(accounts.create({ name })).rejects.toMatchObject({
    code: 'invalid_request',
    param: 'name',
  })
})

test('frees the name and the place of a key that could not be saved', async () => {
  const { keys, account } = fixture
  failNextCommit()
  await expect(keys.create({ accountId: account.id, name: 'again' })).rejects.toMatchObject({
    code: 'ledger_unavailable',
  })
  await keys.create({ accountId: account.id, name: 'again' })
  expect(await keys.list()).toHaveLength(2)
})

test('refuses a disabled key at once, and takes it back when enabled', async () => {
  const { keys, key, keyId, accounts } = fixture
  const use = () => authenticate(`Bearer ${key}`, keys, accounts, clock())
  const saved = keys.disable(keyId)
  expect(use).toThrow(/was disabled on/)
  expect((await saved).state).toBe('disabled')
  expect((await reopenKeys()).find(keyId)?.state).toBe('disabled')
  await keys.enable(keyId)
  expect(use().id).toBe(keyId)
  expect((await reopenKeys()).find(keyId)?.state).toBe('active')
})

test('revokes for good, also what was disabled', async () => {
  const { keys, keyId } = fixture
  await keys.disable(keyId)
  await keys.revoke(keyId)
  for (const change of [keys.enable(keyId), keys.disable(keyId)]) {
    await expect(change).rejects.toMatchObject({ code: 'invalid_request', message: /final/ })
  }
  const revoked = await keys.revoke(keyId)
  expect((await reopenKeys()).find(keyId)).toEqual(revoked)
})

test('gives the last word to whoever asked last', async () => {
  const { keys, keyId } = fixture
  await keys.disable(keyId)
  await Promise.all([keys.enable(keyId), keys.disable(keyId)])
  expect(keys.find(keyId)?.state).toBe('disabled')
  expect((await reopenKeys()).find(keyId)?.state).toBe('disabled')
})

test('refuses a key though that could not be saved, says so, and saves it when asked again', async () => {
  const { keys, keyId } = fixture
  failNextCommit()
  await expect(keys.revoke(keyId)).rejects.toMatchObject({
    code: 'ledger_unavailable',
    message: /until the gateway restarts/,
  })
  expect(keys.find(keyId)?.state).toBe('revoked')
  expect((await reopenKeys()).find(keyId)?.state).toBe('active')
  await keys.revoke(keyId)
  expect((await reopenKeys()).find(keyId)?.state).toBe('revoked')
})

test('knows no key and no account of other names', async () => {
  const { keys, accounts } = fixture
  const changes = [
    keys.disable('key_x'),
    keys.create({ accountId: 'acc_x', name: 'x' }),
    accounts.suspend('acc_x'),
  ]
  for (const change of changes) await expect(change).rejects.toMatchObject({ code: 'not_found' })
})

test('suspends and resumes accounts, durably', async () => {
  const { accounts, account, db } = fixture
  const saved = async () =>
    (await openAccounts(db, { clock, random: randomBytes })).find(account.id)?.state
  await accounts.suspend(account.id)
  expect([accounts.find(account.id)?.state, await saved()]).toEqual(['suspended', 'suspended'])
  failNextCommit()
  await expect(accounts.resume(account.id)).rejects.toMatchObject({ code: 'ledger_unavailable' })
  expect(accounts.find(account.id)?.state).toBe('suspended')
  await accounts.resume(account.id)
  expect([accounts.find(account.id)?.state, await saved()]).toEqual(['active', 'active'])
  expect(accounts.list().map(({ name }) => name)).toEqual(['Ada'])
})

test('loads 10,000 keys in well under 300 ms', async () => {
  const raw = await openRaw(fixture.file)
  raw.exec(`INSERT INTO api_keys (id, account_id, name, hash, hint, state, created_at_ms, state_changed_at_ms)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    SELECT 'key_' || i, (SELECT id FROM accounts), 'name ' || i, hex(randomblob(32)), 'tg_ab12…wxyz', 'active', 1, 1 FROM n`)
  raw.close()
  const startedAt = performance.now()
  const keys = await reopenKeys()
  const tookMs = performance.now() - startedAt
  console.log(`10,000 keys loaded in ${tookMs.toFixed(0)} ms`)
  expect(keys.find('key_10000')?.name).toBe('name 10000')
  expect(tookMs).toBeLessThan(1_000)
})
