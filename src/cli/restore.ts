import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { openBooks } from '../books.ts'
import type { Config } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import { DatabaseError } from '../db/database-error.ts'
import { isOurDatabase, replaceDatabase } from '../db/replace.ts'
import { readSettings, whenFree } from './call.ts'
import { type JsonOption, newVerb } from './command.ts'
import { connectControl } from './control-client.ts'
import { controlPathFor } from './control-path.ts'
import { auditBooks, type ResultOf } from './operations.ts'
import { count, print } from './output.ts'
import { CommandError } from './refusal.ts'

export const restore = (): Command =>
  newVerb('restore', 'Put a copy in the place of the database, while no gateway runs', [
    'tollgate restore tollgate-backup.db',
  ])
    .argument('<file>', 'a copy made by `tollgate backup`')
    .addHelpText(
      'after',
      '\nThe copy is audited first. What it replaces is kept beside it: all that happened after the copy was made is only there.\n',
    )
    .action(async (file: string, options: JsonOption) => {
      const result = await restoreFrom(resolve(file), readSettings())
      print(options, result, () => {
        const { accounts, entries, replaced } = result
        const kept = replaced === null ? '' : ` What was there is kept as ${replaced}.`
        const what = `${count(accounts, 'account', 'accounts')}, ${count(entries, 'entry', 'entries')}`
        return `Restored ${result.database} from ${file} (${what}).${kept}`
      })
    })

/** Raises `CommandError` `gateway_running`, `not_restorable`, `locked`, and `DatabaseError` `newer_schema`. */
const restoreFrom = async (source: string, config: Config) => {
  const { databasePath } = config
  const socket = await connectControl(controlPathFor(databasePath))
  socket?.destroy()
  if (socket)
    throw new CommandError('gateway_running', 'A gateway runs on this database: stop it first.')
  requireCopy(source)
  mkdirSync(dirname(databasePath), { recursive: true, mode: 0o700 })
  const database = existsSync(databasePath) ? realpathSync(databasePath) : resolve(databasePath)
  if (existsSync(database) && realpathSync(source) === database)
    throw notRestorable(source, 'it is the database itself.')
  // In the same folder: a rename is one step, and never half done, only within one file system.
  const folder = mkdtempSync(`${database}.restore-`)
  try {
    const copy = join(folder, 'tollgate.db')
    copyFileSync(source, copy, constants.COPYFILE_FICLONE)
    chmodSync(copy, 0o600)
    const { accounts, entries, generations } = await auditCopy(source, copy, config)
    const replaced = existsSync(database) ? `${database}.replaced-${Date.now()}` : null
    await whenFree(database, async () => {
      if (replaced !== null) await closeProperly(database)
      await replaceDatabase(database, copy, replaced ?? '')
    })
    return { database, replaced, accounts, entries, generations }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const requireCopy = (source: string): void => {
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found?.isFile()) throw notRestorable(source, 'there is no such file.')
  if (statSync(`${source}-wal`, { throwIfNoEntry: false })?.size)
    throw notRestorable(source, 'it is in use or was not closed; copy it with `tollgate backup`.')
}

const notRestorable = (source: string, why: string): CommandError =>
  new CommandError('not_restorable', `${source} can't be restored: ${why}`)

/** Opens the copy as a gateway would at its start: migrated, what was running settled, then audited. */
const auditCopy = async (
  source: string,
  copy: string,
  { keyLimit }: Config,
): Promise<ResultOf<'audit'>> => {
  if (!(await isOurDatabase(copy))) throw notRestorable(source, 'it is no database of Tollgate.')
  const books = await openBooks({ databasePath: copy, keyLimit }).catch((error: Error) => {
    throw notRestorable(source, error.message.replaceAll(copy, source))
  })
  try {
    const result = await auditBooks(books.db, false)
    if (result.clean) return result
    const first = JSON.stringify(result.findings[0])
    throw notRestorable(source, `its audit has ${result.findings.length} findings, first ${first}`)
  } finally {
    await books.close()
  }
}

/** So that its log is inside the file that is kept. A damaged one is replaced as it is; a newer one is not. */
const closeProperly = async (database: string): Promise<void> => {
  try {
    const db = await openDatabase({ file: database })
    await db.close()
  } catch (error) {
    const { code } = error instanceof DatabaseError ? error : { code: undefined }
    if (code === undefined || code === 'locked' || code === 'newer_schema') throw error
  }
}
