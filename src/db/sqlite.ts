/** Loads the SQLite library that this Node can run. */
import type Sqlite from 'better-sqlite3'

export type Connection = Sqlite.Database
export type SqliteConstructor = typeof Sqlite

/**
 * better-sqlite3 13 needs Node-API 10 and is a segmentation fault without it; 12 aborts under Node 24.19 and later
 * (https://github.com/WiseLibs/better-sqlite3/issues/1515). Both are installed where both may run, one is loaded.
 */
export const loadSqlite = async (): Promise<SqliteConstructor> => {
  const name: string =
    Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi10' : 'better-sqlite3'
  // The compiler can't see a name chosen at run time; both packages have this one shape.
  const library = (await import(/* @vite-ignore */ name)) as { default: SqliteConstructor }
  return library.default
}
