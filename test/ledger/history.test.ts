import { afterEach, expect, test } from 'vitest'
import { activityOfKey, spendingOfKey } from '../../src/ledger/history.ts'
import { type Fixture, openFixture } from './fixture.ts'

let fixture: Fixture
afterEach(() => fixture.stop())

test('counts by UTC day, week from Monday, month and in all', async () => {
  fixture = await openFixture()
  const { db, account, keyId } = fixture
  const statement = db.prepare(
    `INSERT INTO usage_days (account_id, key_id, day, model, requests, prompt_tokens, completion_tokens, charge_nano_usd)
     VALUES (?, ?, ?, ?, ?, 0, 0, ?)`,
  )
  const used = (day: string, requests: number, key = keyId) => ({
    statement,
    params: [account.id, key, day, 'a/b', requests, BigInt(requests) * 7n],
  })
  await db.write([
    used('2026-08-31', 1),
    used('2026-09-01', 10),
    used('2026-09-06', 100),
    used('2026-09-07', 1_000),
    used('2026-09-13', 10_000),
    used('2026-09-13', 500_000, 'key_other'),
  ])
  // A Sunday, the last moment of its day and week.
  const sunday = Date.parse('2026-09-13T23:59:59.999Z')
  expect(await activityOfKey(db, keyId, sunday)).toEqual({
    dayRequests: 10_000,
    weekRequests: 11_000,
    monthRequests: 11_110,
    totalRequests: 11_111,
    lastUsedAtMs: null,
  })
  expect(await spendingOfKey(db, keyId, sunday)).toMatchObject({
    dayNanoUsd: 70_000n,
    weekNanoUsd: 77_000n,
    monthNanoUsd: 77_770n,
  })
  expect(await activityOfKey(db, keyId, sunday + 1)).toMatchObject({
    dayRequests: 0,
    weekRequests: 0,
    monthRequests: 11_110,
  })
  // A week may begin in the month before.
  expect(await activityOfKey(db, keyId, Date.parse('2026-09-01T12:00:00Z'))).toMatchObject({
    weekRequests: 11_111,
    monthRequests: 11_110,
  })
})
