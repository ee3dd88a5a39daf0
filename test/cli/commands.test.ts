import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Books, openBooks } from '../../src/books.ts'
import { type Control, controlPathFor, openControl } from '../../src/cli/control.ts'
import { type Tollgate, tollgateIn } from './tollgate.ts'

// Each command is a process of its own, and a machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** What a running gateway is to the command: open books, and a socket beside them. */
const serveBooks = async (databasePath: string): Promise<() => Promise<void>> => {
  const books: Books = await openBooks({ databasePath, keyLimit: 2 })
  const control: Control = await openControl({ path: controlPathFor(databasePath), books })
  return async () => {
    await control.close()
    await books.close()
  }
}

const ways = [
  { way: 'without a gateway', start: async () => async () => {} },
  { way: 'through the socket of one', start: serveBooks },
]

describe.each(ways)('the life of an account $way', ({ start }) => {
  let tollgate: Tollgate
  let stop: () => Promise<void>
  let id = ''
  let keyId = ''
  let secret = ''

  beforeAll(async () => {
    tollgate = await tollgateIn({ KEY_LIMIT: '2' })
    stop = await start(tollgate.database)
  })
  afterAll(async () => {
    await stop()
    await tollgate.remove()
  })

  test('creates an account with a credit', async () => {
    const account = await tollgate.json('account', 'create', '--name', 'Ann', '--credit', '5.00')
    expect(account).toEqual({
      id: expect.stringMatching(/^acc_/),
      name: 'Ann',
      state: 'active',
      balance: '5',
      held: '0',
      available: '5',
      key_limit: null,
      created_at: expect.stringMatching(isoTime),
    })
    id = account.id
  })

  test('credits the same reference once', async () => {
    const pay = ['account', 'credit', id, '25.00', '--reference', 'inv-7', '--note', 'Thanks']
    expect(await tollgate.json(...pay)).toEqual({ id, already_credited: false, balance: '30' })
    expect(await tollgate.json(...pay)).toEqual({ id, already_credited: true, balance: '30' })
    const other = ['account', 'credit', id, '26', '--reference', 'inv-7']
    expect(await tollgate.refusal(...other)).toMatchObject({ code: 'invalid_request', exitCode: 1 })
  })

  test('refunds the same reference once', async () => {
    const give = ['account', 'refund', id, '0.5', '--reference', 'inv-7', '--note', 'Sorry']
    expect(await tollgate.json(...give)).toEqual({ id, already_credited: false, balance: '30.5' })
    expect(await tollgate.json(...give)).toMatchObject({ already_credited: true, balance: '30.5' })
  })

  test('adjusts by a negative amount, and never below what is available', async () => {
    const down = ['account', 'adjust', id, '-1.50', '--note', 'By hand']
    expect(await tollgate.json(...down)).toMatchObject({ balance: '29' })
    const beyond = await tollgate.run('account', 'adjust', id, '-29.000000001', '--note', 'x')
    expect(beyond).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('balance is 29 USD'),
    })
    expect(await tollgate.refusal('account', 'adjust', id, '-30', '--note', 'x')).toMatchObject({
      code: 'insufficient_credits',
      exitCode: 1,
      metadata: { balance: '29', held: '0', required: '30' },
    })
  })

  test('lists the ledger entries, newest first', async () => {
    const { data } = await tollgate.json('account', 'ledger', id, '--limit', '3')
    expect(data).toMatchObject([
      { kind: 'adjustment', amount: '-1.5', balance_after: '29', note: 'By hand' },
      { kind: 'refund', amount: '0.5', balance_after: '30.5', reference: 'inv-7' },
      { kind: 'top_up', amount: '25', balance_after: '30', note: 'Thanks' },
    ])
  })

  test('suspends and resumes', async () => {
    expect(await tollgate.json('account', 'suspend', id)).toMatchObject({ state: 'suspended' })
    expect(await tollgate.json('account', 'show', id)).toMatchObject({ state: 'suspended' })
    expect(await tollgate.json('account', 'resume', id)).toMatchObject({ id, state: 'active' })
  })

  test('prints a new key once, and stores it nowhere', async () => {
    const { code, stdout } = await tollgate.run('key', 'create', '--account', id, '--name', 'one')
    expect(code).toBe(0)
    const shown = stdout.match(/tg_[0-9A-Za-z]{38}/g) ?? []
    expect(shown).toHaveLength(1)
    secret = shown[0] ?? ''
    expect(stdout).toContain('never shown again')
    expect(stdout).toMatch(/^curl .*\/v1\/chat\/completions/m)
    const data = join(tollgate.folder, 'data')
    const files = readdirSync(data).filter(name => !name.endsWith('.sock'))
    expect(files).toContain('tollgate.db')
    for (const name of files)
      expect(readFileSync(join(data, name)).includes(secret), name).toBe(false)
    expect((await tollgate.run('key', 'list')).stdout).not.toContain(secret)
  })

  test('creates keys up to the cap', async () => {
    const second = await tollgate.json('key', 'create', '--account', id, '--name', 'two')
    expect(second).toMatchObject({ id: expect.stringMatching(/^key_/), state: 'active' })
    expect(second.key).toMatch(/^tg_[0-9A-Za-z]{38}$/)
    expect(
      await tollgate.refusal('key', 'create', '--account', id, '--name', 'three'),
    ).toMatchObject({ code: 'invalid_request', exitCode: 1, metadata: { key_limit: 2, keys: 2 } })
  })

  test('lists keys by page', async () => {
    const all = await tollgate.json('key', 'list', '--account', id)
    const [first, second] = all.data
    keyId = first!.id
    expect(first).toEqual({
      id: expect.stringMatching(/^key_/),
      account_id: id,
      name: 'one',
      hint: `${secret.slice(0, 7)}…${secret.slice(-4)}`,
      state: 'active',
      created_at: expect.stringMatching(isoTime),
      state_changed_at: expect.stringMatching(isoTime),
      expires_at: null,
      last_used_at: null,
      usage: '0',
      exposure: '0',
    })
    const page = await tollgate.json('key', 'list', '--limit', '1')
    expect(page).toMatchObject({ data: [{ id: keyId }], has_more: true })
    const rest = await tollgate.json('key', 'list', '--after', keyId)
    expect(rest).toMatchObject({ data: [{ id: second!.id }], has_more: false })
  })

  test('disables, enables and revokes a key, and a revoked one for good', async () => {
    expect(await tollgate.json('key', 'disable', keyId)).toMatchObject({ state: 'disabled' })
    expect(await tollgate.json('key', 'enable', keyId)).toMatchObject({ state: 'active' })
    expect(await tollgate.json('key', 'revoke', keyId)).toMatchObject({
      id: keyId,
      state: 'revoked',
    })
    expect(await tollgate.refusal('key', 'enable', keyId)).toMatchObject({ exitCode: 1 })
  })

  test('shows people tables', async () => {
    const { stdout } = await tollgate.run('account', 'list')
    const [titles = '', row = ''] = stdout.split('\n')
    expect(titles).toMatch(/^ID +NAME +STATE +BALANCE +HELD +CREATED$/)
    expect(row).toMatch(/^acc_\w+ +Ann +active +\$29\.00 +\$0\.00 +\d{4}-/)
    expect(titles.indexOf('STATE')).toBe(row.indexOf('active'))
  })

  test('says that the money is right', async () => {
    const found = { clean: true, accounts: 1, entries: 4, generations: 0, findings: [] }
    expect(await tollgate.json('audit')).toEqual(found)
    const { stdout } = await tollgate.run('audit')
    expect(stdout).toBe('1 account, 4 entries, 0 generations: clean\n')
  })

  test('refuses what is not there', async () => {
    const missing = [
      ['account', 'show', 'acc_none'],
      ['account', 'suspend', 'acc_none'],
      ['account', 'ledger', 'acc_none'],
      ['account', 'credit', 'acc_none', '1', '--reference', 'r'],
      ['key', 'create', '--account', 'acc_none', '--name', 'n'],
      ['key', 'list', '--account', 'acc_none'],
      ['key', 'revoke', 'key_none'],
    ]
    for (const args of missing)
      expect(await tollgate.refusal(...args)).toMatchObject({ code: 'not_found', exitCode: 1 })
  })

  test('commands at the same time wait for each other', async () => {
    const names = ['a', 'b', 'c']
    const ran = await Promise.all(
      names.map(name => tollgate.run('account', 'create', '--name', name)),
    )
    expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, '']))
    const { data } = await tollgate.json('account', 'list')
    expect(data.map(({ name }) => name).sort()).toEqual(['Ann', ...names])
  })
})
