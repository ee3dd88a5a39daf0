import { chmodSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Database } from '../db/database.ts'
import { CommandError } from './refusal.ts'

/** What SQLite, the lock and the socket keep beside the database, by the ends of their names. */
const besides = ['', '-wal', '-shm', '-journal', '.lock', '.lock-journal', '.sock']

/**
 * A consistent copy at `file` (absolute), mode 0600, in one step: a copy that was there before is replaced only by a whole
 * one. Raises `CommandError` `backup_failed`.
 */
export const copyDatabase = async (
  db: Database,
  file: string,
): Promise<{ file: string; size_bytes: number }> => {
  try {
    refuseOwnFiles(db.file, file)
    // A folder of its own: SQLite makes files that others may read, and the copy holds what the database does.
    const folder = mkdtempSync(`${file}.`)
    try {
      const copy = join(folder, 'copy')
      await db.backup(copy)
      chmodSync(copy, 0o600)
      renameSync(copy, file)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    return { file, size_bytes: statSync(file).size }
  } catch (error) {
    if (error instanceof CommandError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError('backup_failed', `No copy was made at ${file}: ${reason}`)
  }
}

const refuseOwnFiles = (database: string, file: string): void => {
  const named = join(realpathSync(dirname(file)), basename(file))
  const real = statSync(file, { throwIfNoEntry: false }) ? realpathSync(file) : named
  for (const path of [named, real])
    if (besides.some(end => path === database + end))
      throw new CommandError('backup_failed', `${file} belongs to the database itself.`)
}
