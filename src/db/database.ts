/**
 * One SQLite file: a writer thread that makes every commit durable, a reader thread for queries, and a lock against
 * everyone else. Knows transactions and rows; what they mean is for the folders above. The only home of better-sqlite3.
 */
import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { closedError } from './database-error.ts'
import { ReaderClient } from './reader-client.ts'
import { WriterClient } from './writer-client.ts'

export type Value = string | number | bigint | null | Uint8Array

/** Names a statement that the writer knows: messages carry it instead of the SQL. */
export type StatementId = number & { readonly brand: 'statement' }

export type Operation = {
  statement: StatementId
  /** Flat: `rows` times the parameters of one execution. */
  params: Value[]
  /** How often to run the statement; default 1. */
  rows?: number
  /** Rows that each execution must change, else the whole unit is refused. */
  expectChanges?: number
}

export type DatabaseOptions = {
  /** Path of the database file; its folder is made when absent. */
  file: string
  /** Default: `migrations/` of this package. */
  migrationsDir?: string
  /** For tests only: while `[0]` is not 0 each commit fails as on a full disk; positive numbers count down. */
  faults?: Int32Array
}

/** See `Database.read`. */
export type Read = <Row>(sql: string, params?: Value[]) => Promise<Row[]>

/** One SQLite file, a writer and a reader thread. Nothing here blocks the event loop. */
export interface Database {
  readonly file: string
  /** Registers SQL for `write`; the same SQL has the same id. */
  prepare(sql: string): StatementId
  /**
   * One durable transaction: resolves after the commit with the rows changed by each operation. Units that wait while
   * another commit is under way share one commit, and one that is refused does not harm the others.
   * Rejects with `DatabaseError`: `refused`, `commit_failed`, `closed`.
   */
  write(operations: Operation[]): Promise<number[]>
  /**
   * Rows as the last commit left them. Columns whose names end in `_nano_usd` are bigint, other integers are numbers.
   * Rejects with `DatabaseError` `query_failed`, `closed`.
   */
  read<Row>(sql: string, params?: Value[]): Promise<Row[]>
  /** Runs `work` with a `read` that sees one moment throughout, on a thread of its own: for long looks at everything. */
  snapshot<Result>(work: (read: Read) => Promise<Result>): Promise<Result>
  /** A consistent copy, made while the gateway works; replaces `file` in one step. Rejects as `read` does. */
  backup(file: string): Promise<void>
  /** Waits for what was written, empties the write-ahead log, closes, and lets another process open the file. */
  close(): Promise<void>
}

/** Rejects with `DatabaseError`: `locked`, `newer_schema`, `unsupported`, `refused` (a migration). */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const file = await resolveFile(options.file)
  const migrationsDir =
    options.migrationsDir ?? fileURLToPath(new URL('../../migrations', import.meta.url))
  const writer = new WriterClient({ file, migrationsDir, faults: options.faults })
  const reader = new ReaderClient(file)
  try {
    await writer.ready
  } catch (error) {
    await reader.terminate()
    throw error
  }
  return new SqliteDatabase(file, writer, reader)
}

/** The lock's name is derived from it, so two ways to the same file must give the same path. */
const resolveFile = async (file: string): Promise<string> => {
  const path = resolve(file)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    return await realpath(path)
  } catch {
    return join(await realpath(dirname(path)), basename(path))
  }
}

class SqliteDatabase implements Database {
  readonly file: string
  readonly #writer: WriterClient
  readonly #reader: ReaderClient
  #closed: Promise<void> | undefined

  constructor(file: string, writer: WriterClient, reader: ReaderClient) {
    this.file = file
    this.#writer = writer
    this.#reader = reader
  }

  prepare(sql: string): StatementId {
    return this.#writer.prepare(sql)
  }

  async write(operations: Operation[]): Promise<number[]> {
    if (this.#closed !== undefined) throw closedError()
    return this.#writer.write(operations)
  }

  async read<Row>(sql: string, params: Value[] = []): Promise<Row[]> {
    if (this.#closed !== undefined) throw closedError()
    return this.#reader.read(sql, params)
  }

  async snapshot<Result>(work: (read: Read) => Promise<Result>): Promise<Result> {
    if (this.#closed !== undefined) throw closedError()
    const reader = new ReaderClient(this.file)
    try {
      await reader.ask({ kind: 'begin' })
      return await work((sql, params = []) => reader.read(sql, params))
    } finally {
      await reader.terminate()
    }
  }

  async backup(target: string): Promise<void> {
    if (this.#closed !== undefined) throw closedError()
    // A thread of its own: a long copy must not hold up the reads of the console.
    const copier = new ReaderClient(this.file)
    try {
      await copier.ask({ kind: 'backup', target: resolve(target) })
    } finally {
      await copier.terminate()
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#writer.idle()
    // The reader first: the log can only be emptied when nobody reads it.
    await this.#reader.terminate()
    await this.#writer.close()
  }
}
