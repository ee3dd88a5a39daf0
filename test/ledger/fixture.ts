/** A ledger on a real file, with one account and one key, and receipts to settle on it. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Account, type Accounts, openAccounts } from '../../src/accounts/accounts.ts'
import { type KeyRing, openKeyRing } from '../../src/accounts/keys.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { loadSqlite } from '../../src/db/sqlite.ts'
import type { GatewayError } from '../../src/errors.ts'
import { chargeOf } from '../../src/ledger/charge.ts'
import { generationIds } from '../../src/ledger/generation-id.ts'
import { type Ledger, type LedgerOptions, openLedger } from '../../src/ledger/ledger.ts'
import type { AppliedRates, Receipt } from '../../src/ledger/receipt.ts'

/** One output token costs 1,000 nano-USD, one input token 100: prices are easy to read. */
const applied: AppliedRates = {
  version: 'test',
  effectiveFrom: null,
  rates: { input: 100_000_000n, output: 1_000_000_000n },
  fees: { webSearch: 10_000_000n },
  markupBasisPoints: 0,
}

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'tollgate-'))

export type Fixture = {
  file: string
  db: Database
  accounts: Accounts
  keys: KeyRing
  ledger: Ledger
  account: Account
  keyId: string
  key: string
  /** While `[0]` is not 0 commits fail. */
  faults: Int32Array
  newId: () => string
  /** As a crash would leave it: a new ledger on the same database, the old one forgotten. */
  reopenLedger: () => Promise<Ledger>
  stop: () => Promise<void>
}

export const clock = (): number => Date.now()

type FixtureOptions = { balanceNanoUsd?: bigint; ledger?: Partial<LedgerOptions> }

export const openFixture = async ({
  balanceNanoUsd = 0n,
  ledger: options,
}: FixtureOptions = {}): Promise<Fixture> => {
  const folder = await newFolder()
  const file = join(folder, 'tollgate.db')
  const faults = new Int32Array(new SharedArrayBuffer(4))
  const db = await openDatabase({ file, faults })
  const accounts = await openAccounts(db, { clock, random: randomBytes })
  const keys = await openKeyRing(db, { accounts, clock, random: randomBytes, keyLimit: 20 })
  const ledger = await openLedger(db, { clock, ...options })
  const account = await accounts.create({ name: 'Ada' })
  ledger.open(account.id)
  const { id: keyId, key } = await keys.create({ accountId: account.id, name: 'first' })
  if (balanceNanoUsd > 0n) {
    await ledger.credit({
      accountId: account.id,
      amountNanoUsd: balanceNanoUsd,
      reference: 'first payment',
    })
  }
  const stop = async (): Promise<void> => {
    Atomics.store(faults, 0, 0)
    await db.close()
    await rm(folder, { recursive: true, force: true })
  }
  const newId = generationIds(clock, randomBytes)
  const reopenLedger = (): Promise<Ledger> => openLedger(db, { clock, ...options })
  return {
    file,
    db,
    accounts,
    keys,
    ledger,
    account,
    keyId,
    key,
    faults,
    newId,
    reopenLedger,
    stop,
  }
}

/** Costs 1,000 nano-USD per output token and 100 per input token. */
export const receiptFor = (
  hold: { generationId: string; accountId: string; keyId: string },
  tokens: { input?: number; output?: number } = {},
): Receipt => {
  const usage = { tokens: { input: tokens.input ?? 0, output: tokens.output ?? 0 } }
  return {
    generationId: hold.generationId,
    accountId: hold.accountId,
    keyId: hold.keyId,
    modelAsked: 'demo/echo',
    model: 'demo/echo',
    provider: 'demo',
    streamed: true,
    usage,
    estimated: false,
    applied,
    priceNanoUsd: chargeOf(usage, applied),
    finishReason: 'stop',
    nativeFinishReason: 'end_turn',
    error: null,
    attempts: [{ provider: 'demo', model: 'demo/echo', status: 200, error: null, latencyMs: 12 }],
    caller: {
      address: '127.0.0.1',
      referer: 'https://example.com',
      title: 'Test',
      userAgent: 'vitest',
    },
    createdAtMs: clock(),
    latencyMs: 20.4,
    ttftMs: 10.6,
  }
}

/** A connection that knows nothing of our rules: what a tampering hand would use. */
export const openRaw = async (file: string) => {
  const Sqlite = await loadSqlite()
  return new Sqlite(file)
}

/** The code of the error that `work` ends in, else `nothing`. */
export const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work()
    return 'nothing'
  } catch (error) {
    return (error as GatewayError).code
  }
}

export const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 500) throw new Error('It never came to hold.')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
