import { afterEach, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import type { Hold, Ledger } from '../../src/ledger/ledger.ts'
import { codeOf, type Fixture, openFixture, until } from './fixture.ts'

let fixture: Fixture

afterEach(() => fixture.stop())

const usd = 1_000_000_000n

/** One output token costs 1,000 nano-USD. */
const start = async (
  balanceNanoUsd: bigint,
): Promise<{ ledger: Ledger; accountId: string; take: (amount: bigint) => Hold }> => {
  fixture = await openFixture({ balanceNanoUsd })
  const { ledger, account, keyId, newId } = fixture
  const take = (amountNanoUsd: bigint): Hold =>
    ledger.hold({ generationId: newId(), accountId: account.id, keyId, amountNanoUsd })
  return { ledger, accountId: account.id, take }
}

const entries = (): Promise<unknown[]> =>
  fixture.db.read(
    'SELECT kind, amount_nano_usd, balance_after_nano_usd, reference FROM ledger_entries ORDER BY id',
  )

test('credits the same reference once, also when asked twice at once', async () => {
  const { ledger, accountId } = await start(usd)
  const payment = { accountId, amountNanoUsd: 5n * usd, reference: 'payment 2' }
  const both = await Promise.all([ledger.credit(payment), ledger.credit(payment)])
  expect(both.map(({ alreadyCredited }) => alreadyCredited)).toEqual([false, true])
  expect(await ledger.credit(payment)).toEqual({ alreadyCredited: true, balanceNanoUsd: 6n * usd })
  // A refund is another kind of payment: its references are its own.
  expect(await ledger.refund(payment)).toEqual({
    alreadyCredited: false,
    balanceNanoUsd: 11n * usd,
  })
  expect(await audit(fixture.db)).toEqual([])
})

test('refuses a credit that makes no sense', async () => {
  const { ledger, accountId } = await start(usd)
  const other = await fixture.accounts.create({ name: 'Bob' })
  ledger.open(other.id)
  const payment = { accountId, amountNanoUsd: usd, reference: 'first payment' }
  const refusals = {
    'another account': () => ledger.credit({ ...payment, accountId: other.id }),
    'another amount': () => ledger.credit({ ...payment, amountNanoUsd: 2n * usd }),
    'no such account': () => ledger.credit({ ...payment, accountId: 'acc_none' }),
    nothing: () => ledger.credit({ ...payment, amountNanoUsd: 0n, reference: 'r' }),
    'less than nothing': () => ledger.credit({ ...payment, amountNanoUsd: -1n, reference: 'r' }),
    'no reference': () => ledger.credit({ ...payment, reference: ' ' }),
    'too much': () => ledger.credit({ ...payment, amountNanoUsd: 10n ** 18n, reference: 'r' }),
    'no note': () => ledger.adjust({ accountId, amountNanoUsd: 1n, note: '' }),
    'no change': () => ledger.adjust({ accountId, amountNanoUsd: 0n, note: 'n' }),
    'more than there is': () => ledger.adjust({ accountId, amountNanoUsd: -usd - 1n, note: 'n' }),
  }
  const codes: Record<string, string> = {}
  for (const [name, work] of Object.entries(refusals)) codes[name] = await codeOf(work)
  expect(codes).toEqual({
    'another account': 'invalid_request',
    'another amount': 'invalid_request',
    'no such account': 'not_found',
    nothing: 'invalid_request',
    'less than nothing': 'invalid_request',
    'no reference': 'invalid_request',
    'too much': 'invalid_request',
    'no note': 'invalid_request',
    'no change': 'invalid_request',
    'more than there is': 'insufficient_credits',
  })
  expect(await entries()).toHaveLength(1)
})

test('adjusts either way, never into what is held', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const hold = take(4_000n)
  expect(
    await codeOf(() => ledger.adjust({ accountId, amountNanoUsd: -6_001n, note: 'too much' })),
  ).toBe('insufficient_credits')
  expect(await ledger.adjust({ accountId, amountNanoUsd: -6_000n, note: 'just so' })).toMatchObject(
    { balanceNanoUsd: 4_000n },
  )
  expect(await ledger.adjust({ accountId, amountNanoUsd: 500n, note: 'sorry' })).toMatchObject({
    balanceNanoUsd: 4_500n,
  })
  ledger.release(hold)
  expect(await audit(fixture.db)).toEqual([])
})

test('spends a credit only once it is durable', async () => {
  const { ledger, accountId, take } = await start(1_000n)
  Atomics.store(fixture.faults, 0, 1)
  const payment = { accountId, amountNanoUsd: usd, reference: 'second' }
  expect(await codeOf(() => ledger.credit(payment))).toBe('ledger_unavailable')
  expect(ledger.snapshot(accountId).balanceNanoUsd).toBe(1_000n)
  await until(() => ledger.available)
  expect(await codeOf(() => take(usd))).toBe('insufficient_credits')
  expect(await ledger.credit(payment)).toMatchObject({ alreadyCredited: false })
  take(usd)
  expect(await audit(fixture.db)).toEqual([])
})
