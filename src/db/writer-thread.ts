/** The only thread, and the only connection, that writes. It holds the lock for as long as it lives. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Operation, StatementId } from './database.ts'
import { DatabaseError, type Failure } from './database-error.ts'
import { lock } from './lock.ts'
import type { WriterData, WriterReply, WriterRequest } from './messages.ts'
import { migrate } from './migrate.ts'
import { type Connection, loadSqlite, type SqliteConstructor } from './sqlite.ts'

/** Older ones can corrupt a write-ahead log that is reset while another connection reads: https://sqlite.org/wal.html#walresetbug */
const oldestSqlite = [3, 51, 3] as const
const busyTimeoutMs = 5_000
const walLimitBytes = 64 * 1024 * 1024
/** Rows written and commits made, each for about a page, between two checkpoints of the write-ahead log. */
const checkpointEvery = 4_000
const pagesPerCommit = 8

// Not null: this module is only ever a worker's.
const port = parentPort as NonNullable<typeof parentPort>
// Started by `WriterClient` only.
const { file, migrationsDir, faults } = workerData as WriterData
const reply = (message: WriterReply): void => port.postMessage(message)

const open = (Sqlite: SqliteConstructor): Connection => {
  const connection = new Sqlite(file, { timeout: busyTimeoutMs })
  const version = String(connection.prepare('SELECT sqlite_version()').pluck().get())
  if (isOlder(version)) {
    throw new DatabaseError(
      'unsupported',
      `SQLite ${oldestSqlite.join('.')} or newer is needed, this is ${version}.`,
    )
  }
  connection.pragma('journal_mode = WAL')
  // After journal_mode: better-sqlite3 is built to fall back to NORMAL in WAL, which loses commits at power loss.
  connection.pragma('synchronous = FULL')
  connection.pragma('fullfsync = ON')
  connection.pragma('mmap_size = 0')
  // Else each savepoint copies the pages it may have to restore to a file: 230 writes for a commit instead of 80.
  connection.pragma('temp_store = MEMORY')
  // Not inside a commit, whose caller would wait for it: see `checkpointWhenDue`.
  connection.pragma('wal_autocheckpoint = 0')
  connection.pragma(`journal_size_limit = ${walLimitBytes}`)
  migrate(connection, migrationsDir, file)
  connection.pragma('foreign_keys = ON')
  requireDurability(connection)
  return connection
}

const isOlder = (version: string): boolean => {
  const parts = version.split('.').map(Number)
  for (const [index, oldest] of oldestSqlite.entries()) {
    const part = parts[index] ?? 0
    if (part !== oldest) return part < oldest
  }
  return false
}

const requireDurability = (connection: Connection): void => {
  const required = {
    journal_mode: 'wal',
    synchronous: 2,
    foreign_keys: 1,
    mmap_size: 0,
    busy_timeout: busyTimeoutMs,
  }
  for (const [name, value] of Object.entries(required)) {
    const found = connection.pragma(name, { simple: true }) ?? 0
    if (found === value) continue
    throw new DatabaseError(
      'unsupported',
      `${file}: ${name} is ${String(found)}, but must be ${value}. Is it on a network drive?`,
    )
  }
}

/** Runs the units that were sent together, each in a savepoint of its own, under one commit. */
class Writer {
  readonly #connection: Connection
  readonly #lock: Connection
  #sinceCheckpoint = 0
  readonly #sql = new Map<StatementId, string>()
  readonly #statements = new Map<StatementId, ReturnType<Connection['prepare']>>()

  constructor(connection: Connection, lock: Connection) {
    this.#connection = connection
    this.#lock = lock
  }

  write({ statements, units }: Extract<WriterRequest, { kind: 'write' }>): WriterReply {
    const connection = this.#connection
    for (const [id, sql] of statements) this.#sql.set(id, sql)
    try {
      connection.exec('BEGIN IMMEDIATE')
      const results = units.map(unit => this.#runUnit(unit))
      failOnRequest()
      connection.exec('COMMIT')
      this.#sinceCheckpoint += pagesPerCommit
      return { kind: 'committed', results }
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK')
      return { kind: 'commit_failed', failure: toFailure('commit_failed', error) }
    }
  }

  #runUnit(unit: Operation[]): number[] | Failure {
    const connection = this.#connection
    connection.exec('SAVEPOINT unit')
    try {
      const changes = unit.map(operation => this.#run(operation))
      connection.exec('RELEASE unit')
      return changes
    } catch (error) {
      if (isOfTheMachine(error)) throw error
      connection.exec('ROLLBACK TO unit; RELEASE unit')
      return toFailure('refused', error)
    }
  }

  #run({ statement: id, params, rows = 1, expectChanges }: Operation): number {
    const statement = this.#statements.get(id) ?? this.#prepare(id)
    const width = params.length / rows
    let total = 0
    for (let row = 0; row < rows; row++) {
      const { changes } = statement.run(
        rows === 1 ? params : params.slice(row * width, (row + 1) * width),
      )
      if (expectChanges !== undefined && changes !== expectChanges) {
        throw new DatabaseError(
          'refused',
          `${changes} rows changed where ${expectChanges} were expected: ${statement.source}`,
        )
      }
      total += changes
    }
    this.#sinceCheckpoint += total
    return total
  }

  /** Moves what the log holds into the database, as far as no reader is in the way; what fails is tried again later. */
  checkpointWhenDue(): void {
    if (this.#sinceCheckpoint < checkpointEvery) return
    this.#sinceCheckpoint = 0
    try {
      this.#connection.pragma('wal_checkpoint(PASSIVE)')
    } catch (error) {
      if (!isOfTheMachine(error)) throw error
    }
  }

  #prepare(id: StatementId): ReturnType<Connection['prepare']> {
    const statement = this.#connection.prepare(this.#sql.get(id) ?? '')
    this.#statements.set(id, statement)
    return statement
  }

  close(): void {
    this.#connection.pragma('wal_checkpoint(TRUNCATE)')
    this.#connection.close()
    this.#lock.close()
  }
}

/** The disk, the memory or another process, rather than what was asked: asking again may succeed. */
const isOfTheMachine = (error: unknown): boolean =>
  /^SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM|CORRUPT|READONLY|CANTOPEN|NOTADB|PROTOCOL|INTERRUPT)/.test(
    sqliteCodeOf(error) ?? '',
  )

const failOnRequest = (): void => {
  if (faults === undefined || Atomics.load(faults, 0) === 0) return
  if (Atomics.load(faults, 0) > 0) Atomics.sub(faults, 0, 1)
  throw new DatabaseError('commit_failed', 'database or disk is full', 'SQLITE_FULL')
}

const sqliteCodeOf = (error: unknown): string | undefined => {
  if (error instanceof DatabaseError) return error.sqliteCode
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

const toFailure = (code: Failure['code'], error: unknown): Failure => ({
  code: error instanceof DatabaseError ? error.code : code,
  message: error instanceof Error ? error.message : String(error),
  sqliteCode: sqliteCodeOf(error),
})

const start = async (): Promise<void> => {
  const Sqlite = await loadSqlite()
  const locked = lock(Sqlite, file)
  const writer = new Writer(open(Sqlite), locked)
  port.on('message', (request: WriterRequest) => {
    if (request.kind === 'write') {
      reply(writer.write(request))
      return writer.checkpointWhenDue()
    }
    writer.close()
    reply({ kind: 'closed' })
    port.close()
  })
  reply({ kind: 'ready' })
}

start().catch((error: unknown) => {
  reply({ kind: 'cannot_start', failure: toFailure('unsupported', error) })
  port.close()
})
