/** One database file in the place of another: for a restore, while no gateway runs. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { lock } from './lock.ts'
import { loadSqlite } from './sqlite.ts'

/** Whether the file is a database of this program's, of any version. */
export const isOurDatabase = async (file: string): Promise<boolean> => {
  const Sqlite = await loadSqlite()
  const connection = new Sqlite(file, { fileMustExist: true })
  try {
    return connection.prepare('SELECT number FROM migrations WHERE number > 0').get() !== undefined
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) return false
    throw error
  } finally {
    connection.close()
  }
}

/**
 * Renames `by`, a closed database in the same folder tree, to `file`, and keeps what was there as `kept`. At every moment
 * there is one or the other at `file`. Raises `DatabaseError` `locked`.
 */
export const replaceDatabase = async (file: string, by: string, kept: string): Promise<void> => {
  const held = lock(await loadSqlite(), file)
  try {
    if (existsSync(file)) keep(file, kept)
    sync(by)
    renameSync(by, file)
    sync(dirname(file))
  } finally {
    held.close()
  }
}

const keep = (file: string, kept: string): void => {
  try {
    linkSync(file, kept)
  } catch {
    // Some file systems have no second name for a file.
    copyFileSync(file, kept)
  }
  // Of a database that did not close: it belongs to the old file, and would spoil the new one.
  if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${kept}-wal`)
  rmSync(`${file}-shm`, { force: true })
}

const sync = (path: string): void => {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
