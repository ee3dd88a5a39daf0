import type { Database } from '../db/database.ts'

/** How much there is on record: what an audit went through. */
export type RowCount = { accounts: number; entries: number; generations: number }

export const countRows = async (db: Database): Promise<RowCount> => {
  const [count] = await db.read<RowCount>(
    `SELECT (SELECT count(*) FROM accounts) AS accounts, (SELECT count(*) FROM ledger_entries) AS entries,
       (SELECT count(*) FROM generations) AS generations`,
  )
  return count ?? { accounts: 0, entries: 0, generations: 0 }
}
