import type { Command } from 'commander'
import { call } from './call.ts'
import { type JsonOption, newCommand, newVerb, usd, wholeNumber } from './command.ts'
import type { ResultOf } from './operations.ts'
import { card, dollars, moreAfter, print, table, time } from './output.ts'

export const account = (): Command =>
  newCommand('account', 'Who owns balances and keys')
    .addCommand(create())
    .addCommand(list())
    .addCommand(show())
    .addCommand(ledger())
    .addCommand(credit())
    .addCommand(adjust())
    .addCommand(refund())
    .addCommand(suspend())
    .addCommand(resume())

const create = (): Command =>
  newVerb('create', 'Create an account', [
    'tollgate account create --name "Ann at Acme" --credit 5.00',
    'tollgate account create --name ci --key-limit 2 --json',
  ])
    .requiredOption('--name <name>', 'what it is called, 1 to 100 characters')
    .option('--credit <usd>', 'what it starts with, such as 5.00', usd({ signed: false }))
    .option(
      '--key-limit <n>',
      'live keys it may have (default: the KEY_LIMIT setting)',
      wholeNumber(0, 10_000),
    )
    .action(async (options: JsonOption & { name: string; credit?: string; keyLimit?: number }) => {
      const { name, credit, keyLimit } = options
      const created = await call('account create', { name, credit, keyLimit })
      print(options, created, () => cardOf(created))
    })

type Page = JsonOption & { limit?: number; after?: string }

const list = (): Command =>
  newVerb('list', 'List accounts, oldest first', [
    'tollgate account list',
    'tollgate account list --limit 50 --after acc_0mwq5e7uu000hcbqv61g --json',
  ])
    .option('--limit <n>', 'how many at most (default: 1000)', wholeNumber(1, 10_000))
    .option('--after <id>', 'only those that come after this one')
    .action(async (options: Page) => {
      const { limit, after } = options
      const accounts = await call('account list', { limit, after })
      print(options, accounts, () => accountTable(accounts))
    })

const accountTable = (accounts: ResultOf<'account list'>): string => {
  if (accounts.data.length === 0) return 'No accounts. Make one: tollgate account create --name …'
  const rows = accounts.data.map(({ id, name, state, balance, held, created_at }) => [
    id,
    name,
    state,
    dollars(balance),
    dollars(held),
    time(created_at),
  ])
  return table(['ID', 'NAME', 'STATE', 'BALANCE', 'HELD', 'CREATED'], rows) + moreAfter(accounts)
}

const show = (): Command =>
  newVerb('show', 'Show one account', ['tollgate account show acc_0mwq5e7uu000hcbqv61g'])
    .argument('<id>', 'the account')
    .action(async (id: string, options: JsonOption) => {
      const shown = await call('account show', { id })
      print(
        options,
        shown,
        () => `${cardOf(shown)}\n${card([['Live keys', `${shown.live_keys}`]])}`,
      )
    })

type Account = ResultOf<'account create'>

const cardOf = (account: Account): string =>
  card([
    ['Account', account.id],
    ['Name', account.name],
    ['State', account.state],
    ['Balance', dollars(account.balance)],
    ['Held', dollars(account.held)],
    ['Available', dollars(account.available)],
    ['Key limit', account.key_limit === null ? 'default' : `${account.key_limit}`],
    ['Created', time(account.created_at)],
  ])

const ledger = (): Command =>
  newVerb('ledger', "List an account's ledger entries, newest first", [
    'tollgate account ledger acc_0mwq5e7uu000hcbqv61g --limit 20',
  ])
    .argument('<id>', 'the account')
    .option('--limit <n>', 'how many at most (default: 50)', wholeNumber(1, 10_000))
    .action(async (id: string, options: JsonOption & { limit?: number }) => {
      const entries = await call('account ledger', { id, limit: options.limit })
      print(options, entries, () => entryTable(entries))
    })

const entryTable = ({ data }: ResultOf<'account ledger'>): string => {
  if (data.length === 0) return 'No entries.'
  const rows = data.map(entry => [
    time(entry.created_at),
    entry.kind,
    dollars(entry.amount),
    dollars(entry.balance_after),
    entry.reference ?? '-',
    entry.note ?? '',
  ])
  return table(['TIME', 'KIND', 'AMOUNT', 'BALANCE', 'REFERENCE', 'NOTE'], rows)
}

const credit = (): Command =>
  newVerb('credit', 'Credit a payment; the same reference credits once', [
    'tollgate account credit acc_0mwq5e7uu000hcbqv61g 25.00 --reference invoice-7',
  ])
    .argument('<id>', 'the account')
    .argument('<usd>', 'how much, such as 25.00', usd({ signed: false }))
    .requiredOption('--reference <reference>', 'of the payment, 1 to 500 characters')
    .option('--note <note>', 'why, for the ledger')
    .action(
      async (
        id: string,
        amount: string,
        options: JsonOption & { reference: string; note?: string },
      ) => {
        const { reference, note } = options
        const credited = await call('account credit', { id, amount, reference, note })
        print(options, credited, () => saidOf(credited, `Credited ${dollars(amount)} to ${id}.`))
      },
    )

const refund = (): Command =>
  newVerb('refund', 'Give money back to the balance; the same reference refunds once', [
    'tollgate account refund acc_0mwq5e7uu000hcbqv61g 0.42 --reference ticket-9 --note "Garbled answers"',
  ])
    .argument('<id>', 'the account')
    .argument('<usd>', 'how much, such as 0.42', usd({ signed: false }))
    .requiredOption('--reference <reference>', 'of the case, 1 to 500 characters')
    .requiredOption('--note <note>', 'why, for the ledger')
    .action(
      async (
        id: string,
        amount: string,
        options: JsonOption & { reference: string; note: string },
      ) => {
        const { reference, note } = options
        const refunded = await call('account refund', { id, amount, reference, note })
        print(options, refunded, () => saidOf(refunded, `Refunded ${dollars(amount)} to ${id}.`))
      },
    )

const saidOf = (result: ResultOf<'account credit'>, done: string): string => {
  const said = result.already_credited
    ? 'This reference was credited before: nothing has changed.'
    : done
  return `${said} Balance: ${dollars(result.balance)}`
}

const adjust = (): Command =>
  newVerb('adjust', 'Correct a balance, up or down; never below what is available', [
    'tollgate account adjust acc_0mwq5e7uu000hcbqv61g -1.50 --note "Credited twice by hand"',
  ])
    .argument('<id>', 'the account')
    .argument('<usd>', 'how much, such as 3 or -1.50', usd({ signed: true }))
    .requiredOption('--note <note>', 'why, for the ledger')
    .action(async (id: string, amount: string, options: JsonOption & { note: string }) => {
      const adjusted = await call('account adjust', { id, amount, note: options.note })
      print(options, adjusted, () => saidOf(adjusted, `Adjusted ${id} by ${dollars(amount)}.`))
    })

const suspend = (): Command =>
  newVerb('suspend', 'Refuse all requests of an account from the next one on', [
    'tollgate account suspend acc_0mwq5e7uu000hcbqv61g',
  ])
    .argument('<id>', 'the account')
    .action(async (id: string, options: JsonOption) => {
      const suspended = await call('account suspend', { id })
      print(options, suspended, () => `${id} is suspended: its next request is refused.`)
    })

const resume = (): Command =>
  newVerb('resume', 'Take requests of a suspended account again', [
    'tollgate account resume acc_0mwq5e7uu000hcbqv61g',
  ])
    .argument('<id>', 'the account')
    .action(async (id: string, options: JsonOption) => {
      const resumed = await call('account resume', { id })
      print(options, resumed, () => `${id} is active again.`)
    })
