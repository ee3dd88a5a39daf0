import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandError } from './refusal.ts'

/** `sun_path` has 104 bytes where it is shortest (macOS; 108 on Linux), the final NUL included: unix(4), unix(7). */
const pathLimitBytes = 103

const ownFolder = (): string => join(tmpdir(), `tollgate-${userInfo().uid}`)

/**
 * `<database file>.sock`, whatever way leads to the file. Where that is longer than a Unix socket's path may be: a name
 * made from it, in this user's own folder in the system's temporary folder (then both sides need the same `TMPDIR`).
 */
export const controlPathFor = (databasePath: string): string => {
  const path = `${realPathOf(resolve(databasePath))}.sock`
  if (Buffer.byteLength(path) <= pathLimitBytes) return path
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
  return join(ownFolder(), `${name}.sock`)
}

/** Also of a file, and of folders, that are not there yet. */
const realPathOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(path)
    return folder === path ? path : join(realPathOf(folder), basename(path))
  }
}

/**
 * The folder for long paths lies where anyone may write: it must be ours and closed to others before a socket in it is
 * made or trusted. Raises `CommandError` `control_path_taken`.
 */
export const requireOwnFolder = (path: string, { make }: { make: boolean }): void => {
  const folder = dirname(path)
  if (folder !== ownFolder()) return
  if (make) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isDirectory() && found.uid === userInfo().uid && (found.mode & 0o077) === 0) return
  const message = `${folder} must be a folder of this user's, with mode 0700. Remove it, or move the database to a shorter path.`
  throw new CommandError('control_path_taken', message)
}
