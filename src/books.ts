import { randomBytes } from 'node:crypto'
import { type Accounts, openAccounts } from './accounts/accounts.ts'
import { type KeyRing, openKeyRing } from './accounts/keys.ts'
import { type Database, openDatabase } from './db/database.ts'
import { type History, openHistory } from './ledger/history.ts'
import { type Ledger, openLedger } from './ledger/ledger.ts'

/** All that is kept on disk, opened and locked: what a gateway serves from and the command line works on. */
export type Books = {
  db: Database
  accounts: Accounts
  keyRing: KeyRing
  ledger: Ledger
  history: History
  close: () => Promise<void>
}

export type BooksOptions = {
  databasePath: string
  /** Live keys an account may have, where it has no limit of its own. */
  keyLimit: number
  onCommit?: (durationMs: number, settles: number) => void
}

/** Raises when another process has the file, when it is damaged, or newer than this program. */
export const openBooks = async ({
  databasePath,
  keyLimit,
  onCommit,
}: BooksOptions): Promise<Books> => {
  const clock = Date.now
  const random = (size: number): Uint8Array => randomBytes(size)
  const db = await openDatabase({ file: databasePath })
  try {
    const accounts = await openAccounts(db, { clock, random })
    const keyRing = await openKeyRing(db, { accounts, clock, random, keyLimit })
    const ledger = await openLedger(db, { clock, ...(onCommit ? { onCommit } : {}) })
    const close = async () => {
      // What can't be committed any more is not lost: recovery settles it from its last checkpoint.
      await ledger.drain().catch(() => {})
      await db.close()
    }
    return { db, accounts, keyRing, ledger, history: openHistory(db), close }
  } catch (error) {
    await db.close()
    throw error
  }
}
