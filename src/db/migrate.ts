import { constants, copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseError } from './database-error.ts'
import type { Connection } from './sqlite.ts'

type Migration = { number: number; label: string; file: string }

/**
 * Brings the schema up to date: forward only, each migration in a transaction of its own, a copy of the file made
 * before each (`<file>.before-NNNN`) once there is something to lose. Raises `newer_schema`.
 */
export const migrate = (connection: Connection, directory: string, file: string): void => {
  connection.exec(
    'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL) STRICT',
  )
  const migrations = migrationsIn(directory)
  const applied = Number(
    connection.prepare('SELECT coalesce(max(number), 0) FROM migrations').pluck().get(),
  )
  const newest = migrations.at(-1)?.number ?? 0
  if (applied > newest) {
    throw new DatabaseError(
      'newer_schema',
      `${file} was written by a newer version of Tollgate (schema ${applied}, this version knows ${newest}). Run that version, or restore the copy ${file}.before-${String(newest + 1).padStart(4, '0')}.`,
    )
  }
  for (const migration of migrations) {
    if (migration.number <= applied) continue
    if (applied > 0) copyBefore(connection, file, migration)
    apply(connection, directory, migration)
  }
}

const migrationsIn = (directory: string): Migration[] =>
  readdirSync(directory)
    .filter(file => /^\d{4}-.+\.sql$/.test(file))
    .sort()
    .map(file => ({ number: Number(file.slice(0, 4)), label: file.slice(0, 4), file }))

const copyBefore = (connection: Connection, file: string, { label }: Migration): void => {
  connection.pragma('wal_checkpoint(TRUNCATE)')
  copyFileSync(file, `${file}.before-${label}`, constants.COPYFILE_FICLONE)
}

const apply = (connection: Connection, directory: string, { number, file }: Migration): void => {
  const sql = readFileSync(join(directory, file), 'utf8')
  connection
    .transaction(() => {
      connection.exec(sql)
      const broken = connection.pragma('foreign_key_check')
      if (Array.isArray(broken) && broken.length > 0) {
        throw new DatabaseError(
          'refused',
          `Migration ${file} would break ${broken.length} references.`,
        )
      }
      connection
        .prepare('INSERT INTO migrations (number, name, applied_at_ms) VALUES (?, ?, ?)')
        .run(number, file, Date.now())
    })
    .immediate()
}
