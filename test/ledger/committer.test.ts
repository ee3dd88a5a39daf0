import { afterEach, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { findGeneration } from '../../src/ledger/history.ts'
import type { Hold, Ledger } from '../../src/ledger/ledger.ts'
import { codeOf, type Fixture, openFixture, openRaw, receiptFor, until } from './fixture.ts'

let fixture: Fixture

afterEach(() => fixture.stop())

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

test('withdraws the charge of a whole answer that could not be committed', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const hold = take(4_000n)
  Atomics.store(fixture.faults, 0, -1)
  const settlement = ledger.settle(hold, receiptFor(hold, { output: 3 }), {
    onCommitFailure: 'void',
  })
  await expect(settlement.committed).rejects.toMatchObject({ code: 'ledger_unavailable' })
  expect(ledger.snapshot(accountId)).toMatchObject({ balanceNanoUsd: 10_000n, heldNanoUsd: 0n })
  expect(await codeOf(() => take(1n))).toBe('ledger_unavailable')

  // Nothing is queued, so it is the probe that finds out.
  Atomics.store(fixture.faults, 0, 0)
  await until(() => ledger.available)
  take(1n)
  expect(await entries()).toHaveLength(1)
  expect(await findGeneration(fixture.db, accountId, hold.generationId)).toBeUndefined()
})

test('keeps the charge of a stream queued until it commits', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const hold = take(4_000n)
  Atomics.store(fixture.faults, 0, 3)
  const settlement = ledger.settle(hold, receiptFor(hold, { output: 3 }), {
    onCommitFailure: 'keep',
  })
  await expect(settlement.committed).rejects.toMatchObject({ code: 'ledger_unavailable' })
  expect(ledger.snapshot(accountId)).toMatchObject({ balanceNanoUsd: 7_000n })
  await expect(ledger.drain(50)).rejects.toMatchObject({ code: 'ledger_unavailable' })
  await ledger.drain()
  expect(ledger.available).toBe(true)
  expect(ledger.stats.failedCommits).toBe(3)
  expect(await findGeneration(fixture.db, accountId, hold.generationId)).toMatchObject({
    chargeNanoUsd: 3_000n,
  })
  expect(await audit(fixture.db)).toEqual([])
})

test('keeps the order of balances right when one of a batch is withdrawn', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const [first, second, third] = [take(1_000n), take(1_000n), take(1_000n)]
  Atomics.store(fixture.faults, 0, 1)
  ledger.settle(first, receiptFor(first, { output: 1 }), { onCommitFailure: 'keep' })
  ledger.settle(second, receiptFor(second, { output: 1 }), { onCommitFailure: 'void' })
  ledger.settle(third, receiptFor(third, { output: 1 }), { onCommitFailure: 'keep' })
  await ledger.drain()
  expect(ledger.snapshot(accountId).balanceNanoUsd).toBe(8_000n)
  expect(await entries()).toHaveLength(3)
  expect(await audit(fixture.db)).toEqual([])
})

test('freezes an account whose balance was changed behind its back, and serves the others', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const other = await fixture.accounts.create({ name: 'Bob' })
  ledger.open(other.id)
  const { id: otherKey } = await fixture.keys.create({ accountId: other.id, name: 'k' })
  await ledger.credit({ accountId: other.id, amountNanoUsd: 5_000n, reference: 'b' })
  const raw = await openRaw(fixture.file)
  raw.prepare('UPDATE accounts SET balance_nano_usd = 99000 WHERE id = ?').run(accountId)
  raw.close()

  const mine = take(1_000n)
  const theirs = ledger.hold({
    generationId: fixture.newId(),
    accountId: other.id,
    keyId: otherKey,
    amountNanoUsd: 1_000n,
  })
  const settlements = [mine, theirs].map(hold =>
    ledger.settle(hold, receiptFor(hold, { output: 1 }), { onCommitFailure: 'keep' }),
  )
  await expect(settlements[0]?.committed).rejects.toMatchObject({ code: 'ledger_unavailable' })
  await settlements[1]?.committed
  await ledger.drain()
  expect(ledger.stats.refused).toBe(1)
  expect(await codeOf(() => take(1n))).toBe('ledger_unavailable')
  expect(ledger.snapshot(other.id).balanceNanoUsd).toBe(4_000n)
  expect((await audit(fixture.db)).map(({ invariant }) => invariant)).toContain(
    'balance_is_last_entry',
  )
})

test('withdraws nothing that a checkpoint has made durable', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const hold = take(9_000n)
  ledger.checkpoint(hold, receiptFor(hold, { output: 2 }))
  await ledger.drain()
  Atomics.store(fixture.faults, 0, 1)
  const settlement = ledger.settle(hold, receiptFor(hold, { output: 3 }), {
    onCommitFailure: 'void',
  })
  await expect(settlement.committed).rejects.toMatchObject({ code: 'ledger_unavailable' })
  await ledger.drain()
  expect(ledger.snapshot(accountId).balanceNanoUsd).toBe(7_000n)
  expect(await audit(fixture.db)).toEqual([])
})

test('never settles a second generation under the id of one that has ended', async () => {
  const { ledger, accountId, take } = await start(10_000n)
  const first = take(0n)
  await ledger.settle(first, receiptFor(first), { onCommitFailure: 'keep' }).committed
  const again = ledger.hold({ ...first, amountNanoUsd: 1_000n })
  const settlement = ledger.settle(again, receiptFor(again, { output: 1 }), {
    onCommitFailure: 'keep',
  })
  await expect(settlement.committed).rejects.toMatchObject({ code: 'ledger_unavailable' })
  expect(await findGeneration(fixture.db, accountId, first.generationId)).toMatchObject({
    priceNanoUsd: 0n,
  })
  expect(await audit(fixture.db)).toEqual([])
})
