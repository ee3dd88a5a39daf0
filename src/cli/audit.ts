import type { Command } from 'commander'
import { openDatabase } from '../db/database.ts'
import { call, readSettings, whenFree } from './call.ts'
import { type JsonOption, newVerb } from './command.ts'
import { auditBooks, type ResultOf } from './operations.ts'
import { count, print, table } from './output.ts'
import { CommandError } from './refusal.ts'

export const audit = (): Command =>
  newVerb('audit', 'Check the invariants of the money; exit code 1 and the rows where broken', [
    'tollgate audit',
    'tollgate audit --json | jq .findings',
  ]).action(async (options: JsonOption) => {
    const result = await call('audit', {}).catch(auditWithoutLedger)
    print(options, result, () => reportOf(result))
    if (!result.clean) process.exitCode = 1
  })

/** Books that contradict themselves don't open, and are what an audit is for. */
const auditWithoutLedger = async (error: unknown): Promise<ResultOf<'audit'>> => {
  if (!(error instanceof CommandError && error.code === 'ledger_inconsistent')) throw error
  const { databasePath } = readSettings()
  const db = await whenFree(databasePath, () => openDatabase({ file: databasePath }))
  try {
    return await auditBooks(db, false)
  } finally {
    await db.close()
  }
}

const reportOf = ({ clean, findings, accounts, entries, generations }: ResultOf<'audit'>) => {
  const seen = [
    count(accounts, 'account', 'accounts'),
    count(entries, 'entry', 'entries'),
    count(generations, 'generation', 'generations'),
  ].join(', ')
  if (clean) return `${seen}: clean`
  const rows = findings.map(({ invariant, account_id, id, expected, found }) => [
    invariant,
    account_id ?? '-',
    id ?? '-',
    expected,
    found,
  ])
  const titles = ['INVARIANT', 'ACCOUNT', 'ID', 'EXPECTED', 'FOUND']
  return `${table(titles, rows)}\n\n${seen}: BROKEN, ${count(rows.length, 'finding', 'findings')}`
}
