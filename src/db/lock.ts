import { DatabaseError } from './database-error.ts'
import type { Connection, SqliteConstructor } from './sqlite.ts'

/**
 * Keeps every other process, and every other opening in this one, off the file for as long as the connection that is
 * returned lives. The operating system lets go of it when the process dies, however it dies, so no stale lock remains.
 * A file beside the database, since readers need the database itself. Raises `locked`.
 */
export const lock = (Sqlite: SqliteConstructor, file: string): Connection => {
  const connection = new Sqlite(`${file}.lock`, { timeout: 0 })
  try {
    connection.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    connection.close()
    if (!(error instanceof Sqlite.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error
    throw new DatabaseError(
      'locked',
      `${file} is in use by another Tollgate process. Stop that one first, or give this one a DATABASE_URL of its own.`,
      error.code,
    )
  }
  return connection
}
