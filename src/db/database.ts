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
   * Rejects with `DatabaseError` `query_failed`.
   */
  read<Row>(sql: string, params?: Value[]): Promise<Row[]>
  /** A consistent copy, made while the gateway works. */
  backup(file: string): Promise<void>
  /** Waits for what was written, empties the write-ahead log, closes, and lets another process open the file. */
  close(): Promise<void>
}

export const openDatabase = async (_options: DatabaseOptions): Promise<Database> => {
  throw new Error('not yet')
}
