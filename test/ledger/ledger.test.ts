import { afterEach, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { findGeneration, spendingOfKey, totalsOfAccount } from '../../src/ledger/history.ts'
import type { Hold, Ledger } from '../../src/ledger/ledger.ts'
import { codeOf, type Fixture, openFixture, openRaw, receiptFor } from './fixture.ts'

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

test('charges what was used, once, and keeps the receipt', async () => {
  const { ledger, accountId, take } = await start(usd)
  const hold = take(5_000_000n)
  expect(ledger.snapshot(accountId)).toEqual({
    ...{ balanceNanoUsd: usd, heldNanoUsd: 5_000_000n, availableNanoUsd: usd - 5_000_000n },
  })
  const receipt = receiptFor(hold, { input: 10, output: 300 })
  const settlement = ledger.settle(hold, receipt, { onCommitFailure: 'void' })
  expect(ledger.settle(hold, receiptFor(hold, { output: 9 }), { onCommitFailure: 'void' })).toBe(
    settlement,
  )
  ledger.release(hold)
  await settlement.committed

  expect(settlement).toMatchObject({ chargeNanoUsd: 301_000n, lossNanoUsd: 0n })
  expect(ledger.snapshot(accountId)).toMatchObject({
    balanceNanoUsd: usd - 301_000n,
    heldNanoUsd: 0n,
  })
  expect(await entries()).toEqual([
    {
      kind: 'top_up',
      amount_nano_usd: usd,
      balance_after_nano_usd: usd,
      reference: 'first payment',
    },
    {
      kind: 'charge',
      amount_nano_usd: -301_000n,
      balance_after_nano_usd: usd - 301_000n,
      reference: hold.generationId,
    },
  ])
  expect(await findGeneration(fixture.db, accountId, hold.generationId)).toEqual({
    ...receipt,
    ...{ latencyMs: 20, ttftMs: 11, state: 'settled', chargeNanoUsd: 301_000n, lossNanoUsd: 0n },
  })
  expect(await findGeneration(fixture.db, 'acc_other', hold.generationId)).toBeUndefined()
  expect(await audit(fixture.db)).toEqual([])
})

test('admits exactly what the balance covers, however many ask at once', async () => {
  const { take } = await start(7_000n)
  const outcomes = await Promise.all(Array.from({ length: 500 }, () => codeOf(() => take(1_000n))))
  expect(outcomes.filter(outcome => outcome === 'nothing')).toHaveLength(7)
  expect(new Set(outcomes.slice(7))).toEqual(new Set(['insufficient_credits']))
})

test('says why it refuses, in figures', async () => {
  const { take } = await start(usd)
  take(400_000_000n)
  expect(() => take(700_000_000n)).toThrow(
    expect.objectContaining({
      status: 402,
      metadata: { balance: '1', held: '0.4', required: '0.7' },
    }),
  )
})

test('extends a hold as far as the balance goes', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const hold = take(4_000n)
  expect(ledger.extend(hold, 6_001n)).toBe(false)
  expect(hold.amountNanoUsd).toBe(4_000n)
  expect(ledger.extend(hold, 6_000n)).toBe(true)
  expect(hold.amountNanoUsd).toBe(10_000n)
  expect(ledger.availableNanoUsd(accountId)).toBe(0n)
  ledger.release(hold)
  ledger.release(hold)
  expect(ledger.extend(hold, 1n)).toBe(false)
  expect(ledger.availableNanoUsd(accountId)).toBe(10_000n)
})

test('settles above a hold with what is available, and books the rest as loss', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const other = take(3_000n)
  const hold = take(4_000n)
  const settlement = ledger.settle(hold, receiptFor(hold, { output: 9 }), {
    onCommitFailure: 'void',
  })
  await settlement.committed
  expect(settlement).toMatchObject({ chargeNanoUsd: 7_000n, lossNanoUsd: 2_000n })
  expect(ledger.snapshot(accountId)).toEqual({
    balanceNanoUsd: 3_000n,
    heldNanoUsd: 3_000n,
    availableNanoUsd: 0n,
  })
  ledger.release(other)
  expect(await audit(fixture.db)).toEqual([])
})

test('notes a free answer and its exposure without an entry', async () => {
  const { ledger, take } = await start(usd)
  const hold = take(1_000n)
  await ledger.settle(hold, receiptFor(hold), { onCommitFailure: 'keep', exposureNanoUsd: 77n })
    .committed
  expect(await entries()).toHaveLength(1)
  const [key] = await fixture.keys.list()
  expect(key).toMatchObject({ exposureNanoUsd: 77n, usageNanoUsd: 0n })
  expect(key?.lastUsedAtMs).toBeGreaterThan(0)
})

test('settles many at once in few commits, and all of them', async () => {
  const { ledger, accountId, take } = await start(usd)
  const before = ledger.stats.commits
  const holds = Array.from({ length: 1_200 }, () => take(1_000n))
  await Promise.all(
    holds.map(
      hold =>
        ledger.settle(hold, receiptFor(hold, { output: 1 }), { onCommitFailure: 'void' }).committed,
    ),
  )
  expect(ledger.stats.commits - before).toBeLessThanOrEqual(3)
  expect(ledger.snapshot(accountId).balanceNanoUsd).toBe(usd - 1_200_000n)
  expect(await totalsOfAccount(fixture.db, accountId)).toEqual({
    creditedNanoUsd: usd,
    chargedNanoUsd: 1_200_000n,
  })
  const spending = await spendingOfKey(fixture.db, fixture.keyId, Date.now())
  expect(spending).toEqual({
    ...{
      dayNanoUsd: 1_200_000n,
      weekNanoUsd: 1_200_000n,
      monthNanoUsd: 1_200_000n,
      totalNanoUsd: 1_200_000n,
    },
  })
  expect(await audit(fixture.db)).toEqual([])
})

test('writes the evidence of a stream, and its end over it', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const hold = take(9_000n)
  ledger.checkpoint(hold, receiptFor(hold, { output: 1 }))
  ledger.checkpoint(hold, receiptFor(hold, { output: 2 }))
  await ledger.drain()
  expect(ledger.stats.commits).toBe(2)
  expect(await findGeneration(fixture.db, accountId, hold.generationId)).toMatchObject({
    ...{ state: 'running', priceNanoUsd: 2_000n, chargeNanoUsd: 0n },
  })
  expect(await audit(fixture.db, { atWork: true })).toEqual([])
  await ledger.settle(hold, receiptFor(hold, { output: 5 }), { onCommitFailure: 'keep' }).committed
  ledger.checkpoint(hold, receiptFor(hold, { output: 6 }))
  await ledger.drain()
  expect(await findGeneration(fixture.db, accountId, hold.generationId)).toMatchObject({
    ...{ state: 'settled', priceNanoUsd: 5_000n, chargeNanoUsd: 5_000n },
  })
  expect(await audit(fixture.db)).toEqual([])
})

test('leaves out a checkpoint that the end of its stream has overtaken', async () => {
  const { ledger, take } = await start(10_000n)
  const hold = take(9_000n)
  ledger.checkpoint(hold, receiptFor(hold, { output: 1 }))
  await ledger.settle(hold, receiptFor(hold, { output: 5 }), { onCommitFailure: 'keep' }).committed
  expect(await fixture.db.read('SELECT state, price_nano_usd FROM generations')).toEqual([
    { state: 'settled', price_nano_usd: 5_000n },
  ])
})

test('settles at the evidence when a hold with a checkpoint is released', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const hold = take(9_000n)
  ledger.checkpoint(hold, receiptFor(hold, { output: 2 }))
  await ledger.drain()
  ledger.release(hold)
  await ledger.drain()
  expect(ledger.snapshot(accountId)).toMatchObject({ balanceNanoUsd: 8_000n, heldNanoUsd: 0n })
  expect(await audit(fixture.db)).toEqual([])
})

test('refuses to settle what was released, and prices below 0', async () => {
  const { ledger, take } = await start(10_000n)
  const released = take(1n)
  ledger.release(released)
  expect(() => ledger.settle(released, receiptFor(released), { onCommitFailure: 'keep' })).toThrow(
    /was released/,
  )
  const hold = take(1n)
  const negative = { ...receiptFor(hold), priceNanoUsd: -1n }
  expect(() => ledger.settle(hold, negative, { onCommitFailure: 'keep' })).toThrow(RangeError)
  expect(hold.state).toBe('open')
  expect(() => take(-1n)).toThrow(RangeError)
})

test('refuses to open over a balance that its last entry contradicts', async () => {
  const { accountId } = await start(10_000n)
  const raw = await openRaw(fixture.file)
  raw.prepare('UPDATE accounts SET balance_nano_usd = 10001 WHERE id = ?').run(accountId)
  raw.close()
  await expect(fixture.reopenLedger()).rejects.toThrow(/its last ledger entry says/)
})

test('never changes or deletes an entry', async () => {
  await start(10_000n)
  const raw = await openRaw(fixture.file)
  expect(() => raw.exec("UPDATE ledger_entries SET note = 'x'")).toThrow(/never changed/)
  expect(() => raw.exec('DELETE FROM ledger_entries')).toThrow(/never deleted/)
  raw.close()
})
