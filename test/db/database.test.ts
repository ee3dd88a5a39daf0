import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { newFolder, openRaw } from '../ledger/fixture.ts'

let folder: string
let file: string
let open: Database[]

beforeEach(async () => {
  folder = await newFolder()
  file = join(folder, 'tollgate.db')
  open = []
})

afterEach(async () => {
  await Promise.all(open.map(db => db.close()))
  await rm(folder, { recursive: true, force: true })
})

const openHere = async (
  options: { migrationsDir?: string; faults?: Int32Array } = {},
): Promise<Database> => {
  const db = await openDatabase({ file, ...options })
  open.push(db)
  return db
}

const insertProbe =
  'INSERT INTO probes (id, probed_at_ms) VALUES (?, ?) ON CONFLICT DO UPDATE SET probed_at_ms = excluded.probed_at_ms'

test('makes the folder, and keeps what was written', async () => {
  file = join(folder, 'a', 'b', 'tollgate.db')
  const first = await openHere()
  await first.write([{ statement: first.prepare(insertProbe), params: [1, 42] }])
  await first.close()
  const second = await openHere()
  expect(await second.read('SELECT * FROM probes')).toEqual([{ id: 1, probed_at_ms: 42 }])
})

test('has money as bigint and everything else as numbers', async () => {
  const db = await openHere()
  const [row] = await db.read(
    "SELECT 9007199254740993 AS amount_nano_usd, 7 AS n, 'x' AS s, NULL AS nothing_nano_usd",
  )
  expect(row).toEqual({ amount_nano_usd: 9007199254740993n, n: 7, s: 'x', nothing_nano_usd: null })
})

test('undoes a whole unit when one of its expectations fails, and only that unit', async () => {
  const db = await openHere()
  const insert = db.prepare(insertProbe)
  const remove = db.prepare('DELETE FROM probes WHERE id = ?')
  const results = await Promise.allSettled([
    db.write([{ statement: insert, params: [1, 1] }]),
    db.write([{ statement: insert, params: [1, 2] }]),
    db.write([{ statement: insert, params: [2, 3] }]),
    db.write([
      { statement: insert, params: [1, 4] },
      { statement: remove, params: [2], expectChanges: 1 },
    ]),
  ])
  const outcomes = results.map(result =>
    result.status === 'fulfilled' ? result.value : result.reason.code,
  )
  expect(outcomes).toEqual([[1], [1], 'refused', 'refused'])
  expect(await db.read('SELECT probed_at_ms FROM probes')).toEqual([{ probed_at_ms: 2 }])
})

test('runs a statement once for each row of its parameters', async () => {
  const db = await openHere()
  const insert = db.prepare(
    "INSERT INTO accounts (id, name, state, balance_nano_usd, created_at_ms) VALUES (?, ?, 'active', ?, 0)",
  )
  const params = ['a', 'A', 1n, 'b', 'B', 2n, 'c', 'C', 3n]
  expect(await db.write([{ statement: insert, rows: 3, params, expectChanges: 1 }])).toEqual([3])
  expect(await db.read('SELECT sum(balance_nano_usd) AS sum_nano_usd FROM accounts')).toEqual([
    { sum_nano_usd: 6n },
  ])
})

test('lets writes that wait share one commit', async () => {
  const faults = new Int32Array(new SharedArrayBuffer(4))
  const db = await openHere({ faults })
  const insert = db.prepare(insertProbe)
  const write = (at: number) => db.write([{ statement: insert, params: [1, at] }])
  await write(0)
  // The first goes alone; of the nine that wait meanwhile all fail with the one commit that fails, the second.
  const results = Array.from({ length: 10 }, (_, at) => write(at))
  await results[0]
  Atomics.store(faults, 0, 1)
  const outcomes = await Promise.allSettled(results)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(9)
  expect(Atomics.load(faults, 0)).toBe(0)
})

test('says that a commit failed, and leaves nothing of it', async () => {
  const faults = new Int32Array(new SharedArrayBuffer(4))
  const db = await openHere({ faults })
  const insert = db.prepare(insertProbe)
  Atomics.store(faults, 0, 1)
  await expect(db.write([{ statement: insert, params: [1, 1] }])).rejects.toMatchObject({
    ...{ code: 'commit_failed', sqliteCode: 'SQLITE_FULL' },
  })
  expect(await db.read('SELECT * FROM probes')).toEqual([])
  await db.write([{ statement: insert, params: [1, 2] }])
  expect(await db.read('SELECT probed_at_ms FROM probes')).toEqual([{ probed_at_ms: 2 }])
})

test('says what is wrong with a query, and goes on', async () => {
  const db = await openHere()
  await expect(db.read('SELECT nothing')).rejects.toMatchObject({ code: 'query_failed' })
  await expect(db.read('INSERT INTO probes VALUES (1, 1) RETURNING *')).rejects.toThrow(/readonly/)
  await expect(
    db.write([{ statement: db.prepare('INSERT INTO nowhere VALUES (1)'), params: [] }]),
  ).rejects.toMatchObject({
    code: 'refused',
  })
  expect(await db.read('SELECT 1 AS n')).toEqual([{ n: 1 }])
})

test('refuses a second opening in this process', async () => {
  await openHere()
  await expect(openDatabase({ file })).rejects.toMatchObject({
    code: 'locked',
    message: /in use by another Tollgate/,
  })
})

test('refuses a second process, and lets it in once the first was killed', async () => {
  const source = fileURLToPath(new URL('../../src/db/database.ts', import.meta.url))
  const code = `import(${JSON.stringify(source)}).then(({ openDatabase }) => openDatabase({ file: ${JSON.stringify(file)} })).then(() => console.log('open'))`
  const other = spawn(process.execPath, ['--import', 'tsx', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise(resolve => other.stdout.once('data', resolve))
  await expect(openDatabase({ file })).rejects.toMatchObject({ code: 'locked' })
  other.kill('SIGKILL')
  await new Promise(resolve => other.once('exit', resolve))
  const db = await openHere()
  expect(await db.read('SELECT count(*) AS n FROM accounts')).toEqual([{ n: 0 }])
})

test('empties the write-ahead log when it closes', async () => {
  const db = await openHere()
  await db.write([{ statement: db.prepare(insertProbe), params: [1, 1] }])
  expect((await stat(`${file}-wal`)).size).toBeGreaterThan(0)
  await db.close()
  expect(existsSync(`${file}-wal`)).toBe(false)
  await expect(db.read('SELECT 1')).rejects.toMatchObject({ code: 'closed' })
  await expect(db.write([])).rejects.toMatchObject({ code: 'closed' })
})

test('copies a database at work, consistently', async () => {
  const db = await openHere()
  const insert = db.prepare(
    "INSERT INTO accounts (id, name, state, balance_nano_usd, created_at_ms) VALUES (?, 'A', 'active', 1, 0), (?, 'B', 'active', 1, 0)",
  )
  let writing = true
  let written = 0
  const writer = (async () => {
    while (writing)
      await db.write([{ statement: insert, params: [`a${written}`, `b${written++}`] }])
  })()
  await new Promise(resolve => setTimeout(resolve, 50))
  const copy = join(folder, 'copy.db')
  await db.backup(copy)
  writing = false
  await writer
  const raw = await openRaw(copy)
  const pairs = raw
    .prepare(
      "SELECT count(*) FILTER (WHERE id LIKE 'a%') AS a, count(*) FILTER (WHERE id LIKE 'b%') AS b FROM accounts",
    )
    .get()
  const { a, b } = pairs as { a: number; b: number }
  raw.close()
  expect(a).toBe(b)
  expect(a).toBeGreaterThan(0)
  expect(await readdir(folder)).not.toContain('copy.db.partial')
})

test('reads one moment throughout a snapshot', async () => {
  const db = await openHere()
  const insert = db.prepare(insertProbe)
  await db.write([{ statement: insert, params: [1, 1] }])
  const seen = await db.snapshot(async read => {
    const before = await read('SELECT probed_at_ms FROM probes')
    await db.write([{ statement: insert, params: [1, 2] }])
    return [before, await read('SELECT probed_at_ms FROM probes')]
  })
  expect(seen).toEqual([[{ probed_at_ms: 1 }], [{ probed_at_ms: 1 }]])
  expect(await db.read('SELECT probed_at_ms FROM probes')).toEqual([{ probed_at_ms: 2 }])
})

test('writes with what durability needs', async () => {
  const db = await openHere()
  // Through the writer's own connection: the settings are that connection's.
  const seen =
    db.prepare(`INSERT INTO migrations (number, name, applied_at_ms) SELECT -1, json_array(
    (SELECT journal_mode FROM pragma_journal_mode), (SELECT synchronous FROM pragma_synchronous),
    (SELECT foreign_keys FROM pragma_foreign_keys), (SELECT timeout FROM pragma_busy_timeout)), 0`)
  await db.write([{ statement: seen, params: [] }])
  const full = 2
  expect(await db.read('SELECT name FROM migrations WHERE number = -1')).toEqual([
    { name: JSON.stringify(['wal', full, 1, 5_000]) },
  ])
})

const folderOfMigrations = async (migrations: Record<string, string>): Promise<string> => {
  const migrationsDir = join(folder, `migrations-${Object.keys(migrations).length}`)
  await mkdir(migrationsDir)
  for (const [name, sql] of Object.entries(migrations))
    await writeFile(join(migrationsDir, name), sql)
  return migrationsDir
}

test('applies new migrations once, after a copy of what was there', async () => {
  const one = { '0001-one.sql': 'CREATE TABLE one (n INTEGER) STRICT; INSERT INTO one VALUES (1)' }
  const first = await openHere({ migrationsDir: await folderOfMigrations(one) })
  await first.close()
  expect(await readdir(folder)).not.toContain('tollgate.db.before-0001')

  const two = { ...one, '0002-two.sql': 'UPDATE one SET n = n + 1' }
  const migrationsDir = await folderOfMigrations(two)
  for (let start = 0; start < 2; start++) {
    const db = await openHere({ migrationsDir })
    expect(await db.read('SELECT n FROM one')).toEqual([{ n: 2 }])
    await db.close()
  }
  const copy = await openRaw(`${file}.before-0002`)
  expect(copy.prepare('SELECT n FROM one').pluck().get()).toBe(1)
  copy.close()
})

test('undoes a migration that fails, and does not start', async () => {
  const broken = {
    '0001-one.sql': 'CREATE TABLE one (n INTEGER) STRICT',
    '0002-two.sql': 'CREATE TABLE two (n INTEGER) STRICT; SELECT nonsense',
  }
  await expect(
    openDatabase({ file, migrationsDir: await folderOfMigrations(broken) }),
  ).rejects.toThrow(/nonsense/)
  const raw = await openRaw(file)
  expect(
    raw.prepare("SELECT name FROM sqlite_schema WHERE name IN ('one', 'two')").pluck().all(),
  ).toEqual(['one'])
  raw.close()
})

test('refuses a database of a newer version', async () => {
  const db = await openHere()
  await db.write([
    {
      statement: db.prepare("INSERT INTO migrations VALUES (9999, '9999-later.sql', 0)"),
      params: [],
    },
  ])
  await db.close()
  await expect(openDatabase({ file })).rejects.toMatchObject({
    code: 'newer_schema',
    message: /newer version of Tollgate/,
  })
})

test('never blocks the event loop while it commits', async () => {
  const db = await openHere()
  const insert = db.prepare(insertProbe)
  let longestMs = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last)
    last = performance.now()
  }, 1)
  // One statement that keeps the writer busy for long.
  const slow = db.prepare(`INSERT INTO probes SELECT 1, count(*) FROM
    (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i FROM n)
    WHERE true ON CONFLICT DO UPDATE SET probed_at_ms = excluded.probed_at_ms`)
  const startedAt = performance.now()
  await Promise.all([
    db.write([{ statement: slow, params: [] }]),
    db.write([{ statement: insert, params: [1, 1] }]),
  ])
  const tookMs = performance.now() - startedAt
  clearInterval(timer)
  expect(tookMs).toBeGreaterThan(200)
  expect(longestMs).toBeLessThan(tookMs / 2)
})
