/**
 * What the command line can do to the books: each operation has a name, arguments that are checked, and a result that is
 * JSON. A running gateway answers them through its socket; where none runs the command answers them itself. Either way it
 * is this code. Money is a decimal string of USD, times are ISO 8601.
 */
import { z } from 'zod'
import type { Account } from '../accounts/accounts.ts'
import type { ApiKey, ApiKeyRecord } from '../accounts/keys.ts'
import type { Books } from '../books.ts'
import { GatewayError } from '../errors.ts'
import { audit } from '../ledger/audit.ts'
import { type Entry, entriesOf } from '../ledger/history.ts'
import type { Credited, CreditRequest } from '../ledger/ledger.ts'
import { formatUsd, parseUsd } from '../ledger/money.ts'
import { countRows } from '../ledger/row-count.ts'
import { copyDatabase } from './database-copy.ts'
import { CommandError } from './refusal.ts'

/** `serving`: a gateway is at work on these books, so generations may be running. */
type Answer<Args, Result> = (books: Books, args: Args, serving: boolean) => Promise<Result>

type Operation<Args, Result> = {
  readonly args: z.ZodType<Args>
  readonly answer: Answer<Args, Result>
}

const operation = <Args, Result>(
  args: z.ZodType<Args>,
  answer: Answer<Args, Result>,
): Operation<Args, Result> => ({ args, answer })

const text = z.string().max(1_000)
const id = z.string().min(1).max(100)

const mostRows = 10_000
/** Ids ascend in time, so a page is what comes after the last one's. */
const page = { limit: z.int().min(1).max(mostRows).default(1_000), after: text.optional() }

const onAccount = z.object({ id })
const onKey = z.object({ id })
const payment = z.object({ id, amount: text, reference: text, note: text.optional() })

export const operations = {
  'account create': operation(
    z.object({
      name: text,
      credit: text.optional(),
      keyLimit: z.int().min(0).max(10_000).optional(),
    }),
    async ({ accounts, ledger }, { name, credit, keyLimit }) => {
      const amountNanoUsd = credit === undefined ? 0n : parseUsd(credit)
      const account = await accounts.create({ name, keyLimit: keyLimit ?? null })
      ledger.open(account.id)
      if (amountNanoUsd > 0n) {
        const reference = `first-credit-of-${account.id}`
        await ledger
          .credit({ accountId: account.id, amountNanoUsd, reference })
          .catch((error: Error) => {
            const message = `The account ${account.id} was created, but not credited: ${error.message}`
            throw new CommandError('ledger_unavailable', message)
          })
      }
      return toAccount(account, ledger)
    },
  ),
  'account list': operation(z.object(page), async ({ accounts, ledger }, { limit, after = '' }) =>
    toPage(
      accounts.list().filter(account => account.id > after),
      limit,
      account => toAccount(account, ledger),
    ),
  ),
  'account show': operation(onAccount, async ({ accounts, ledger, keyRing }, { id }) => {
    const account = accounts.find(id)
    if (account === undefined) throw noAccount(id)
    const keys = await keyRing.list(id)
    const liveKeys = keys.filter(({ state }) => state !== 'revoked').length
    return { ...toAccount(account, ledger), live_keys: liveKeys }
  }),
  'account ledger': operation(
    z.object({ id, limit: z.int().min(1).max(mostRows).default(50) }),
    async ({ db, accounts }, { id, limit }) => {
      if (accounts.find(id) === undefined) throw noAccount(id)
      const entries = await entriesOf(db, id, limit)
      return { data: entries.map(toEntry) }
    },
  ),
  'account credit': operation(payment, async ({ ledger }, args) =>
    toCredited(args.id, await ledger.credit(toRequest(args))),
  ),
  'account refund': operation(payment.required({ note: true }), async ({ ledger }, args) =>
    toCredited(args.id, await ledger.refund(toRequest(args))),
  ),
  'account adjust': operation(
    z.object({ id, amount: text, note: text }),
    async ({ ledger }, { id, amount, note }) => {
      const amountNanoUsd = parseUsd(amount, { signed: true })
      const adjusted = await ledger.adjust({ accountId: id, amountNanoUsd, note }).catch(asRefused)
      return toCredited(id, adjusted)
    },
  ),
  'account suspend': operation(onAccount, async ({ accounts, ledger }, { id }) =>
    toAccount(await accounts.suspend(id), ledger),
  ),
  'account resume': operation(onAccount, async ({ accounts, ledger }, { id }) =>
    toAccount(await accounts.resume(id), ledger),
  ),
  'key create': operation(z.object({ account: id, name: text }), async ({ keyRing }, args) => {
    const { key, record } = await keyRing.create({ accountId: args.account, name: args.name })
    return { ...toKey(record), key }
  }),
  'key list': operation(
    z.object({ ...page, account: id.optional() }),
    async ({ accounts, keyRing }, { account, limit, after = '' }) => {
      if (account !== undefined && accounts.find(account) === undefined) throw noAccount(account)
      const keys = await keyRing.list(account)
      return toPage(
        keys.filter(key => key.id > after),
        limit,
        toKeyRecord,
      )
    },
  ),
  'key disable': operation(onKey, async ({ keyRing }, { id }) => toKey(await keyRing.disable(id))),
  'key enable': operation(onKey, async ({ keyRing }, { id }) => toKey(await keyRing.enable(id))),
  'key revoke': operation(onKey, async ({ keyRing }, { id }) => toKey(await keyRing.revoke(id))),
  audit: operation(z.object({}), async ({ db }, _, serving) => auditBooks(db, serving)),
  backup: operation(z.object({ file: z.string().min(1).max(4_096) }), async ({ db }, { file }) =>
    copyDatabase(db, file),
  ),
} as const

export type OperationName = keyof typeof operations
export type ArgsOf<Name extends OperationName> = z.input<(typeof operations)[Name]['args']>
export type ResultOf<Name extends OperationName> = Awaited<
  ReturnType<(typeof operations)[Name]['answer']>
>

/**
 * By name and with arguments as they came over the socket or from the command line. Raises `invalid_request` for a name
 * or arguments that don't fit, and whatever the operation does.
 */
export const runOperation = async (
  books: Books,
  name: string,
  args: unknown,
  serving: boolean,
): Promise<unknown> => {
  if (!isOperationName(name))
    throw new GatewayError('invalid_request', `There is no operation ${JSON.stringify(name)}.`)
  // Its own arguments go to each: what `args` parsed is what `answer` takes.
  const { args: schema, answer } = operations[name] as Operation<unknown, unknown>
  const parsed = schema.safeParse(args)
  if (parsed.success) return answer(books, parsed.data, serving)
  const [issue] = parsed.error.issues
  throw new GatewayError('invalid_request', `${issue?.path.join('.')}: ${issue?.message}.`)
}

/** Those that go through the whole database: nobody can say how long that takes. */
export const isSlow = (name: OperationName): boolean => name === 'audit' || name === 'backup'

const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name)

/** The invariants of the money; also of books whose ledger can't be opened because they are broken. */
export const auditBooks = async (db: Books['db'], serving: boolean) => {
  const findings = await audit(db, { atWork: serving })
  return {
    clean: findings.length === 0,
    ...(await countRows(db)),
    findings: findings.map(({ invariant, accountId, id, expected, found }) => ({
      invariant,
      account_id: accountId,
      id,
      expected,
      found,
    })),
  }
}

/** The ledger's own words are for a request that is too dear. */
const asRefused = (error: unknown): never => {
  if (!(error instanceof GatewayError && error.code === 'insufficient_credits')) throw error
  const { code, metadata = {} } = error
  const message = `The balance is ${metadata['balance']} USD, of which ${metadata['held']} is held: too little for that.`
  throw new GatewayError(code, message, { metadata })
}

const noAccount = (id: string): GatewayError =>
  new GatewayError('not_found', `There is no account ${id}.`)

const isoTime = (ms: number): string => new Date(ms).toISOString()
const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

const toPage = <Row, Result>(rows: readonly Row[], limit: number, show: (row: Row) => Result) => ({
  data: rows.slice(0, limit).map(show),
  has_more: rows.length > limit,
})

const toAccount = (
  { id, name, state, keyLimit, createdAtMs }: Account,
  ledger: Books['ledger'],
) => {
  const { balanceNanoUsd, heldNanoUsd, availableNanoUsd } = ledger.snapshot(id)
  return {
    id,
    name,
    state,
    balance: formatUsd(balanceNanoUsd),
    held: formatUsd(heldNanoUsd),
    available: formatUsd(availableNanoUsd),
    key_limit: keyLimit,
    created_at: isoTime(createdAtMs),
  }
}

const toRequest = (args: z.output<typeof payment>): CreditRequest => ({
  accountId: args.id,
  amountNanoUsd: parseUsd(args.amount),
  reference: args.reference,
  note: args.note ?? null,
})

const toCredited = (id: string, { alreadyCredited, balanceNanoUsd }: Credited) => ({
  id,
  already_credited: alreadyCredited,
  balance: formatUsd(balanceNanoUsd),
})

const toEntry = (entry: Entry) => ({
  id: entry.id,
  kind: entry.kind,
  amount: formatUsd(entry.amountNanoUsd),
  balance_after: formatUsd(entry.balanceAfterNanoUsd),
  reference: entry.reference,
  note: entry.note,
  created_at: isoTime(entry.createdAtMs),
})

const toKey = (key: ApiKey) => ({
  id: key.id,
  account_id: key.accountId,
  name: key.name,
  hint: key.hint,
  state: key.state,
  created_at: isoTime(key.createdAtMs),
  state_changed_at: isoTime(key.stateChangedAtMs),
  expires_at: isoTimeOrNull(key.expiresAtMs),
})

const toKeyRecord = (key: ApiKeyRecord) => ({
  ...toKey(key),
  last_used_at: isoTimeOrNull(key.lastUsedAtMs),
  usage: formatUsd(key.usageNanoUsd),
  exposure: formatUsd(key.exposureNanoUsd),
})
