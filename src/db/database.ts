/**
 * One SQLite file: a writer thread that makes every commit durable, a reader thread for queries, and a lock against
 * everyone else. Knows transactions and rows; what they mean is for the folders above. The only home of better-sqlite3.
 */
import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../thread.ts'
import { DatabaseError } from './database-error.ts'
import type {
  Failure,
  ReaderReply,
  ReaderRequest,
  WriterData,
  WriterReply,
  WriterRequest,
} from './messages.ts'

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
    const answer = await this.#reader.ask({ kind: 'read', sql, params })
    return answer.kind === 'rows' ? rowsOf<Row>(answer) : []
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

const closedError = (): DatabaseError => new DatabaseError('closed', 'The database is closed.')

const toError = ({ code, message, sqliteCode }: Failure): DatabaseError =>
  new DatabaseError(code, message, sqliteCode)

/** The caller names the row type, as it names the columns in its SQL. */
const rowsOf = <Row>({ columns, rows }: Extract<ReaderReply, { kind: 'rows' }>): Row[] =>
  rows.map(values => {
    const row: Record<string, Value> = {}
    for (const [index, column] of columns.entries()) row[column] = values[index] ?? null
    return row as Row
  })

type Waiting<Result> = { resolve: (result: Result) => void; reject: (error: DatabaseError) => void }
type Unit = Waiting<number[]> & { operations: Operation[] }

/** The event loop's side of the writer. At most one message is under way; all that comes meanwhile goes in the next. */
class WriterClient {
  readonly ready: Promise<void>
  readonly #thread: Worker
  readonly #ids = new Map<string, StatementId>()
  #unsent: [StatementId, string][] = []
  #waiting: Unit[] = []
  #underWay: Unit[] = []
  #idlers: (() => void)[] = []
  #gone: DatabaseError | undefined

  constructor(workerData: WriterData) {
    this.#thread = startThread(new URL('./writer-thread.ts', import.meta.url), {
      workerData,
      name: 'db-writer',
    })
    this.ready = new Promise((resolve, reject) => {
      this.#thread.on('message', (reply: WriterReply) => {
        if (reply.kind === 'ready') resolve()
        else if (reply.kind === 'cannot_start') reject(toError(reply.failure))
        else this.#finish(reply)
      })
      this.#thread.on('error', (error: Error) => this.#fail(error.message, reject))
      this.#thread.on('exit', () => this.#fail('The writer thread has ended.', reject))
    })
  }

  prepare(sql: string): StatementId {
    const known = this.#ids.get(sql)
    if (known !== undefined) return known
    // The brand exists for the compiler only.
    const id = this.#ids.size as StatementId
    this.#ids.set(sql, id)
    this.#unsent.push([id, sql])
    return id
  }

  write(operations: Operation[]): Promise<number[]> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone)
      this.#waiting.push({ operations, resolve, reject })
      if (this.#underWay.length === 0) this.#send()
    })
  }

  #send(): void {
    this.#underWay = this.#waiting
    this.#waiting = []
    const units = this.#underWay.map(({ operations }) => operations)
    const request: WriterRequest = { kind: 'write', statements: this.#unsent, units }
    this.#unsent = []
    this.#thread.postMessage(request)
  }

  #finish(reply: WriterReply): void {
    const units = this.#underWay
    this.#underWay = []
    // Before the callers hear of it: what they write next then waits for a commit that is already under way.
    if (this.#waiting.length > 0) this.#send()
    for (const [index, unit] of units.entries()) answer(unit, reply, index)
    if (this.#underWay.length > 0) return
    for (const idler of this.#idlers.splice(0)) idler()
  }

  #fail(message: string, rejectReady: (error: DatabaseError) => void): void {
    this.#gone ??= new DatabaseError('closed', message)
    rejectReady(this.#gone)
    for (const unit of [...this.#underWay.splice(0), ...this.#waiting.splice(0)])
      unit.reject(this.#gone)
    for (const idler of this.#idlers.splice(0)) idler()
  }

  /** Resolves when all that was written is answered. */
  idle(): Promise<void> {
    if (this.#underWay.length === 0) return Promise.resolve()
    return new Promise(resolve => this.#idlers.push(resolve))
  }

  async close(): Promise<void> {
    if (this.#gone !== undefined) return
    const ended = new Promise(resolve => this.#thread.once('exit', resolve))
    const request: WriterRequest = { kind: 'close' }
    this.#thread.postMessage(request)
    await ended
  }
}

const answer = ({ resolve, reject }: Unit, reply: WriterReply, index: number): void => {
  if (reply.kind === 'commit_failed') return reject(toError(reply.failure))
  const result = reply.kind === 'committed' ? reply.results[index] : undefined
  if (Array.isArray(result)) resolve(result)
  else reject(result === undefined ? closedError() : toError(result))
}

/** The event loop's side of a reader, which answers in the order of asking. */
class ReaderClient {
  readonly #thread: Worker
  readonly #waiting: Waiting<ReaderReply>[] = []
  #gone: DatabaseError | undefined

  constructor(file: string) {
    this.#thread = startThread(new URL('./reader-thread.ts', import.meta.url), {
      workerData: { file },
      name: 'db-reader',
    })
    this.#thread.on('message', (reply: ReaderReply) => {
      const waiting = this.#waiting.shift()
      if (reply.kind === 'failed') waiting?.reject(toError(reply.failure))
      else waiting?.resolve(reply)
    })
    this.#thread.on('error', (error: Error) => this.#fail(error.message))
    this.#thread.on('exit', () => this.#fail('The reader thread has ended.'))
  }

  ask(request: ReaderRequest): Promise<ReaderReply> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone)
      this.#waiting.push({ resolve, reject })
      this.#thread.postMessage(request)
    })
  }

  #fail(message: string): void {
    this.#gone ??= new DatabaseError('closed', message)
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#gone)
  }

  /** What was asked before is answered first. */
  async terminate(): Promise<void> {
    if (this.#gone !== undefined) return
    const ended = new Promise(resolve => this.#thread.once('exit', resolve))
    await this.ask({ kind: 'close' }).catch(() => {})
    await ended
  }
}
