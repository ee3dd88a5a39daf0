import { afterEach, expect, test } from 'vitest'
import type { GatewayError } from '../../src/errors.ts'
import { audit } from '../../src/ledger/audit.ts'
import { findGeneration, spendingOfKey, totalsOfAccount } from '../../src/ledger/history.ts'
import type { Hold, Ledger } from '../../src/ledger/ledger.ts'
import { type Fixture, openFixture, openRaw, receiptFor } from './fixture.ts'

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

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work()
    return 'nothing'
  } catch (error) {
    return (error as GatewayError).code
  }
}

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

const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 500) throw new Error('It never came to hold.')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

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
