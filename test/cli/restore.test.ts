import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openBooks } from '../../src/books.ts'
import { controlPathFor, openControl } from '../../src/cli/control.ts'
import { openDatabase } from '../../src/db/database.ts'
import { loadSqlite } from '../../src/db/sqlite.ts'
import { type Tollgate, tollgateIn } from './tollgate.ts'

// Each command is a process of its own, and a machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

let tollgate: Tollgate
let id: string
let copy: string

beforeEach(async () => {
  tollgate = await tollgateIn()
  copy = join(tollgate.folder, 'copy.db')
  const account = await tollgate.json('account', 'create', '--name', 'A', '--credit', '5')
  id = account.id
})
afterEach(() => tollgate.remove())

/** Does what no part of ours would do. */
const tamper = async (file: string, sql: string): Promise<void> => {
  const Sqlite = await loadSqlite()
  const connection = new Sqlite(file)
  connection.exec(sql)
  connection.close()
}

const balance = async (): Promise<unknown> => (await tollgate.json('account', 'show', id)).balance

describe('a backup', () => {
  test('is whole, for this user only, and replaces an older one', async () => {
    writeFileSync(copy, 'older', { mode: 0o644 })
    const made = await tollgate.json('backup', 'copy.db')
    expect(made).toEqual({ file: copy, size_bytes: statSync(copy).size })
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(readFileSync(copy).subarray(0, 15).toString()).toBe('SQLite format 3')
    expect(readdirSync(tollgate.folder).sort()).toEqual(['copy.db', 'data'])
  })

  test('never writes over the database or what belongs to it', async () => {
    const link = join(tollgate.folder, 'link.db')
    symlinkSync(tollgate.database, link)
    for (const file of [tollgate.database, `${tollgate.database}-wal`, link])
      expect(await tollgate.refusal('backup', file)).toMatchObject({ code: 'backup_failed' })
    expect(await tollgate.refusal('backup', 'no/folder.db')).toMatchObject({ exitCode: 1 })
    expect(await balance()).toBe('5')
  })
})

describe('a restore', () => {
  beforeEach(async () => {
    await tollgate.run('backup', copy)
    await tollgate.run('account', 'credit', id, '3', '--reference', 'later')
  })

  test('brings the copy back and keeps what it replaced', async () => {
    expect(await balance()).toBe('8')
    const restored = await tollgate.json('restore', copy)
    expect(restored).toEqual({
      database: tollgate.database,
      replaced: expect.stringContaining(`${tollgate.database}.replaced-`),
      accounts: 1,
      entries: 1,
      generations: 0,
    })
    expect(await balance()).toBe('5')
    expect(await tollgate.json('audit')).toMatchObject({ clean: true })
    await tollgate.run('restore', restored.replaced)
    expect(await balance()).toBe('8')
  })

  test('is refused while a gateway runs', async () => {
    const books = await openBooks({ databasePath: tollgate.database, keyLimit: 5 })
    const control = await openControl({ path: controlPathFor(tollgate.database), books })
    const refused = await tollgate.refusal('restore', copy)
    await control.close()
    await books.close()
    expect(refused).toMatchObject({ code: 'gateway_running', exitCode: 1 })
    expect(await balance()).toBe('8')
  })

  test('is refused where the copy is none of ours, damaged or dishonest', async () => {
    const bad = join(tollgate.folder, 'bad.db')
    const notOurs = expect.stringContaining('no database of Tollgate')
    const tryIt = () => tollgate.refusal('restore', bad)
    expect(await tryIt()).toMatchObject({
      code: 'not_restorable',
      message: expect.stringContaining('no such file'),
    })
    for (const content of ['', 'no database at all']) {
      writeFileSync(bad, content)
      expect(await tryIt()).toMatchObject({ message: notOurs })
    }
    writeFileSync(bad, readFileSync(copy))
    await tamper(bad, 'UPDATE accounts SET balance_nano_usd = 9000000000')
    expect(await tryIt()).toMatchObject({ code: 'not_restorable' })
    writeFileSync(bad, readFileSync(copy))
    await tamper(
      bad,
      `INSERT INTO usage_days (account_id, key_id, day, model, requests, prompt_tokens, completion_tokens, charge_nano_usd)
       VALUES ('${id}', 'key_x', '2026-01-01', 'm', 1, 1, 1, 5)`,
    )
    expect(await tryIt()).toMatchObject({ message: expect.stringContaining('days_are_charges') })
    writeFileSync(bad, readFileSync(copy))
    await tamper(bad, 'DELETE FROM migrations')
    expect(await tryIt()).toMatchObject({ message: notOurs })
    expect(await balance()).toBe('8')
    expect(
      readdirSync(join(tollgate.folder, 'data')).filter(name => /restore|replaced/.test(name)),
    ).toEqual([])
  })

  test('is refused where copy or database are of a newer version', async () => {
    const newer = "INSERT INTO migrations VALUES (9999, '9999-future.sql', 0)"
    await tamper(copy, newer)
    const refused = await tollgate.refusal('restore', copy)
    expect(refused).toMatchObject({ code: 'not_restorable' })
    expect(refused.message).toContain('newer version')
    await tamper(copy, 'DELETE FROM migrations WHERE number = 9999')
    await tamper(tollgate.database, newer)
    expect(await tollgate.refusal('restore', copy)).toMatchObject({ code: 'newer_schema' })
  })

  test('replaces a database that is damaged', async () => {
    writeFileSync(tollgate.database, 'not a database any more'.repeat(300))
    const { replaced } = await tollgate.json('restore', copy)
    expect(readFileSync(replaced).includes('not a database any more')).toBe(true)
    expect(await balance()).toBe('5')
  })
})

describe('an audit', () => {
  test('of a broken ledger shows the rows and ends with 1', async () => {
    await tamper(tollgate.database, 'UPDATE accounts SET balance_nano_usd = 9000000000')
    expect(await tollgate.refusal('account', 'list')).toMatchObject({ code: 'ledger_inconsistent' })
    const { code, stdout } = await tollgate.run('audit', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      clean: false,
      findings: expect.arrayContaining([
        expect.objectContaining({
          invariant: 'balance_is_last_entry',
          account_id: id,
          expected: '5',
          found: '9',
        }),
      ]),
    })
    const table = await tollgate.run('audit')
    expect(table.code).toBe(1)
    expect(table.stdout).toMatch(/^balance_is_last_entry +acc_\w+ +\d+ +5 +9$/m)
    expect(table.stdout).toContain('BROKEN')
  })
})

describe('a database that someone else has', () => {
  test('is waited for, and then it is said who has it', async () => {
    const db = await openDatabase({ file: tollgate.database })
    const refused = await tollgate.refusal('account', 'list')
    await db.close()
    expect(refused).toMatchObject({ code: 'locked', exitCode: 1 })
    expect(refused.message).toContain('in use by')
  })
})

test('the package names the command', () => {
  const { bin } = createRequire(import.meta.url)('../../package.json')
  expect(bin).toEqual({ tollgate: 'dist/cli/main.js' })
})
