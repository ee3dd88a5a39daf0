/** What can go wrong with the database, in its own words: HTTP is not known here. */
export type DatabaseErrorCode =
  /** Another process, or this one, has the file open. */
  | 'locked'
  /** The file was written by a newer version of the gateway. */
  | 'newer_schema'
  /** The library or the file system does not give what durability needs. */
  | 'unsupported'
  /** The transaction could not be made durable: disk full, I/O error, busy. Nothing of it remains; try again. */
  | 'commit_failed'
  /** A constraint or an expectation of the unit was broken: trying again would fail again. Nothing of it remains. */
  | 'refused'
  | 'closed'
  | 'query_failed'

export class DatabaseError extends Error {
  readonly code: DatabaseErrorCode
  /** SQLite's own name, such as `SQLITE_FULL`, where it had one. */
  readonly sqliteCode: string | undefined

  constructor(code: DatabaseErrorCode, message: string, sqliteCode?: string) {
    super(message)
    this.name = 'DatabaseError'
    this.code = code
    this.sqliteCode = sqliteCode
  }
}

export const closedError = (): DatabaseError =>
  new DatabaseError('closed', 'The database is closed.')

/** An error as it crosses threads. */
export type Failure = { code: DatabaseErrorCode; message: string; sqliteCode?: string | undefined }

export const toError = ({ code, message, sqliteCode }: Failure): DatabaseError =>
  new DatabaseError(code, message, sqliteCode)
