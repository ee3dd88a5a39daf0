/** Long reads, so that no query holds the event loop, and backups. Can't write. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { Value } from './database.ts'
import type { ReaderData, ReaderReply, ReaderRequest } from './messages.ts'
import { type Connection, loadSqlite } from './sqlite.ts'

const mostStatements = 200
const allPages = 0x7fffffff

// Not null: this module is only ever a worker's.
const port = parentPort as NonNullable<typeof parentPort>
// Started by `ReaderClient` only.
const { file } = workerData as ReaderData

class Reader {
  readonly #connection: Connection
  readonly #statements = new Map<string, ReturnType<Connection['prepare']>>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  read(sql: string, params: Value[]): ReaderReply {
    const statement = this.#statement(sql)
    const columns = statement.columns().map(({ name }) => name)
    // Raw rows are arrays of SQLite's own value types; the driver's typings don't follow `raw()`.
    const rows = statement.raw().all(...params) as Value[][]
    for (const [index, name] of columns.entries())
      if (!name.endsWith('_nano_usd')) toNumbers(rows, index)
    return { kind: 'rows', columns, rows }
  }

  #statement(sql: string): ReturnType<Connection['prepare']> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    if (this.#statements.size >= mostStatements) this.#statements.clear()
    const statement = this.#connection.prepare(sql).safeIntegers()
    this.#statements.set(sql, statement)
    return statement
  }

  /** In one step: a copy in pieces starts again at each commit, and so would never end on a busy gateway. */
  async backup(target: string): Promise<ReaderReply> {
    const partial = `${target}.partial`
    rmSync(partial, { force: true })
    await this.#connection.backup(partial, { progress: () => allPages })
    const descriptor = openSync(partial, 'r+')
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(partial, target)
    return { kind: 'done' }
  }

  begin(): ReaderReply {
    // The moment is that of the first read, so one is made at once.
    this.#connection.exec('BEGIN; SELECT count(*) FROM migrations')
    return { kind: 'done' }
  }

  close(): void {
    this.#connection.close()
  }
}

const toNumbers = (rows: Value[][], column: number): void => {
  for (const row of rows) {
    const value = row[column]
    if (typeof value === 'bigint') row[column] = Number(value)
  }
}

const answer = async (request: ReaderRequest): Promise<ReaderReply> => {
  try {
    if (request.kind === 'close') return close()
    reader ??= open()
    if (request.kind === 'read') return reader.read(request.sql, request.params)
    if (request.kind === 'begin') return reader.begin()
    return await reader.backup(request.target)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', failure: { code: 'query_failed', message } }
  }
}

const Sqlite = await loadSqlite()
let reader: Reader | undefined
let last = Promise.resolve()

// The file may not be there before the first request: both threads start at once, and the writer makes it.
const open = (): Reader =>
  new Reader(new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 5_000 }))

const close = (): ReaderReply => {
  reader?.close()
  port.close()
  return { kind: 'done' }
}

port.on('message', (request: ReaderRequest) => {
  last = last.then(async () => port.postMessage(await answer(request)))
})
