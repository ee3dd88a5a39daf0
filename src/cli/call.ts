/** Where an operation is carried out: by the gateway that runs, else here, with the lock in this process's hands. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Books, openBooks } from '../books.ts'
import { type Config, loadConfig, readEnvironment } from '../config.ts'
import { DatabaseError } from '../db/database-error.ts'
import { ask, connectControl } from './control-client.ts'
import { controlPathFor } from './control-path.ts'
import {
  type ArgsOf,
  isSlow,
  type OperationName,
  type ResultOf,
  runOperation,
} from './operations.ts'
import { CommandError } from './refusal.ts'

/** How long another process may keep the lock: a second command for a moment, a gateway until its socket is there. */
const lockTimeoutMs = 5_000
const retryMs = 100
const answerTimeoutMs = 30_000

/** The settings, without those of providers. Raises `ConfigError`. */
export const readSettings = (): Config => loadConfig(readEnvironment(), [])

/** Raises `CommandError`, `GatewayError`, `DatabaseError`, `ConfigError`. */
export const call = async <Name extends OperationName>(
  name: Name,
  args: ArgsOf<Name>,
): Promise<ResultOf<Name>> => {
  const config = readSettings()
  const result = await whenFree(config.databasePath, async () => {
    const socket = await connectControl(controlPathFor(config.databasePath))
    if (socket) return ask(socket, { operation: name, args }, isSlow(name) ? 0 : answerTimeoutMs)
    if (name !== 'account create') requireDatabase(config.databasePath)
    return withBooks(config, books => runOperation(books, name, args, false))
  })
  // Both ways lead to this operation of this version.
  return result as ResultOf<Name>
}

/** Tries again while another process has the database's lock, up to 5 s, then raises `locked` and says who. */
export const whenFree = async <Result>(
  databasePath: string,
  attempt: () => Promise<Result>,
): Promise<Result> => {
  const deadlineMs = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isForNow(error)) throw error
      if (performance.now() > deadlineMs) throw stillLocked(databasePath)
      await sleep(retryMs)
    }
  }
}

/** Someone has the lock, or a gateway is about to give it back. */
const isForNow = (error: unknown): boolean =>
  (error instanceof DatabaseError && error.code === 'locked') ||
  (error instanceof CommandError && error.code === 'draining')

/** Raises `ledger_inconsistent` where the balances are not what the entries say. */
const withBooks = async <Result>(
  config: Config,
  work: (books: Books) => Promise<Result>,
): Promise<Result> => {
  const books = await openBooks(config).catch((error: Error) => {
    if (error instanceof DatabaseError) throw error
    throw new CommandError('ledger_inconsistent', error.message)
  })
  try {
    return await work(books)
  } finally {
    await books.close()
  }
}

/** Else a command in the wrong folder would make an empty database there, and answer from it. */
const requireDatabase = (databasePath: string): void => {
  if (existsSync(databasePath)) return
  const message = `There is no database at ${databasePath}. \`tollgate account create\` or \`tollgate serve\` makes one; DATABASE_URL says where.`
  throw new CommandError('no_database', message)
}

const stillLocked = (databasePath: string): CommandError => {
  const holder = holderOf(`${databasePath}.lock`)
  const who = holder === undefined ? 'another process' : `process ${holder}`
  const message = `${databasePath} is in use by ${who}, and no gateway answers at ${controlPathFor(databasePath)}. Try again when it is done.`
  return new CommandError('locked', message)
}

/** Linux tells who has a lock; elsewhere, or from inside a container, it may stay unknown. */
const holderOf = (lockFile: string): string | undefined => {
  try {
    const { ino } = statSync(lockFile)
    const lock = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .find(fields => fields.some(field => field.endsWith(`:${ino}`)))
    const pid = lock?.[4]
    if (pid === undefined || !/^[1-9]\d*$/.test(pid)) return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return `${pid} (${command.slice(0, 100)})`
  } catch {
    return undefined
  }
}
