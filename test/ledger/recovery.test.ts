import { copyFile } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { audit } from '../../src/ledger/audit.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import { clock, type Fixture, openFixture, receiptFor } from './fixture.ts'

let fixture: Fixture

afterEach(() => fixture.stop())

const leaveRunning = async (count: number, output: number): Promise<void> => {
  const { ledger, account, keyId, newId } = fixture
  for (let index = 0; index < count; index++) {
    const hold = ledger.hold({
      generationId: newId(),
      accountId: account.id,
      keyId,
      amountNanoUsd: 0n,
    })
    ledger.checkpoint(hold, receiptFor(hold, { output }))
  }
  await ledger.drain()
}

test('settles what a crash left running at its last checkpoint', async () => {
  fixture = await openFixture({ balanceNanoUsd: 7_000n })
  await leaveRunning(3, 3)
  const ledger = await fixture.reopenLedger()
  expect(ledger.recovered).toBe(3)
  expect(ledger.snapshot(fixture.account.id)).toEqual({
    balanceNanoUsd: 0n,
    heldNanoUsd: 0n,
    availableNanoUsd: 0n,
  })
  expect(
    await fixture.db.read(
      'SELECT state, charge_nano_usd, loss_nano_usd FROM generations ORDER BY id',
    ),
  ).toEqual([
    { state: 'recovered', charge_nano_usd: 3_000n, loss_nano_usd: 0n },
    { state: 'recovered', charge_nano_usd: 3_000n, loss_nano_usd: 0n },
    { state: 'recovered', charge_nano_usd: 1_000n, loss_nano_usd: 2_000n },
  ])
  expect(await audit(fixture.db)).toEqual([])
  expect((await fixture.reopenLedger()).recovered).toBe(0)
})

test('recovers 10,000 generations in under 2 s', async () => {
  fixture = await openFixture({ balanceNanoUsd: 100_000_000n })
  await leaveRunning(10_000, 5)
  const startedAt = performance.now()
  const ledger = await fixture.reopenLedger()
  const tookMs = performance.now() - startedAt
  console.log(`10,000 running generations recovered in ${tookMs.toFixed(0)} ms`)
  expect(ledger.recovered).toBe(10_000)
  expect(ledger.snapshot(fixture.account.id).balanceNanoUsd).toBe(50_000_000n)
  expect(await audit(fixture.db)).toEqual([])
  // Twice the goal: the machine that runs the tests is busy with other things.
  expect(tookMs).toBeLessThan(4_000)
})

test('has every charge that was acknowledged in a copy of the files taken at any moment', async () => {
  fixture = await openFixture({ balanceNanoUsd: 100_000_000n })
  const { ledger, account, keyId, newId, file } = fixture
  const acknowledged = new Set<string>()
  let busy = true
  const client = async (): Promise<void> => {
    while (busy) {
      const hold = ledger.hold({
        generationId: newId(),
        accountId: account.id,
        keyId,
        amountNanoUsd: 9_000n,
      })
      ledger.checkpoint(hold, receiptFor(hold, { output: 1 }))
      await new Promise(resolve => setImmediate(resolve))
      await ledger.settle(hold, receiptFor(hold, { output: 3 }), { onCommitFailure: 'keep' })
        .committed
      acknowledged.add(hold.generationId)
    }
  }
  const clients = Array.from({ length: 20 }, client)
  const moments: { copy: string; before: string[] }[] = []
  for (let moment = 0; moment < 5; moment++) {
    await new Promise(resolve => setTimeout(resolve, 7))
    const copy = `${file}.${moment}`
    const before = [...acknowledged]
    // As a power cut leaves them: the log may end in the middle of a commit. Too little is written for a checkpoint.
    await copyFile(file, copy)
    await copyFile(`${file}-wal`, `${copy}-wal`)
    moments.push({ copy, before })
  }
  busy = false
  await Promise.all(clients)

  for (const { copy, before } of moments) {
    const db = await openDatabase({ file: copy })
    await openLedger(db, { clock })
    expect(await audit(db)).toEqual([])
    const rows = await db.read<{ id: string }>(
      "SELECT id FROM generations WHERE charge_nano_usd = 3000 AND state = 'settled'",
    )
    const there = new Set(rows.map(({ id }) => id))
    expect(before.filter(id => !there.has(id))).toEqual([])
    await db.close()
  }
  expect(moments.at(-1)?.before.length).toBeGreaterThan(0)
})
