import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit, type Invariant } from '../../src/ledger/audit.ts'
import { type Fixture, openFixture, openRaw, receiptFor } from './fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture({ balanceNanoUsd: 1_000_000n })
  const { ledger, account, keyId, newId } = fixture
  for (let index = 0; index < 5; index++) {
    const hold = ledger.hold({
      generationId: newId(),
      accountId: account.id,
      keyId,
      amountNanoUsd: 10_000n,
    })
    ledger.settle(hold, receiptFor(hold, { output: 3 }), { onCommitFailure: 'keep' })
  }
  await ledger.drain()
})

afterAll(() => fixture.stop())

/** What a hand inside the file could do, and the invariant that must tell. `undo` brings the file back. */
const tamperings: { [K in Invariant]: { sql: string; undo: string; also?: Invariant[] } } = {
  balance_is_sum_of_entries: {
    sql: 'UPDATE accounts SET balance_nano_usd = balance_nano_usd + 1',
    undo: 'UPDATE accounts SET balance_nano_usd = balance_nano_usd - 1',
    also: ['balance_is_last_entry'],
  },
  balance_is_last_entry: {
    sql: 'UPDATE ledger_entries SET balance_after_nano_usd = balance_after_nano_usd + 1 WHERE id = (SELECT max(id) FROM ledger_entries)',
    undo: 'UPDATE ledger_entries SET balance_after_nano_usd = balance_after_nano_usd - 1 WHERE id = (SELECT max(id) FROM ledger_entries)',
    also: ['balance_after_is_running_sum'],
  },
  balance_after_is_running_sum: {
    sql: 'UPDATE ledger_entries SET balance_after_nano_usd = balance_after_nano_usd + 1 WHERE id = 2',
    undo: 'UPDATE ledger_entries SET balance_after_nano_usd = balance_after_nano_usd - 1 WHERE id = 2',
  },
  balance_is_not_negative: {
    sql: 'UPDATE accounts SET balance_nano_usd = -balance_nano_usd',
    undo: 'UPDATE accounts SET balance_nano_usd = -balance_nano_usd',
    also: ['balance_is_sum_of_entries', 'balance_is_last_entry'],
  },
  charge_and_loss_are_price: {
    sql: 'UPDATE generations SET loss_nano_usd = 5 WHERE id = (SELECT min(id) FROM generations)',
    undo: 'UPDATE generations SET loss_nano_usd = 0',
  },
  one_charge_per_generation: {
    sql: `INSERT INTO ledger_entries (id, account_id, kind, amount_nano_usd, balance_after_nano_usd, reference, created_at_ms)
      SELECT 99, account_id, kind, amount_nano_usd, balance_after_nano_usd + amount_nano_usd, reference, 0
      FROM ledger_entries WHERE id = (SELECT max(id) FROM ledger_entries)`,
    undo: 'DELETE FROM ledger_entries WHERE id = 99',
    also: ['balance_is_sum_of_entries', 'balance_is_last_entry', 'days_are_charges'],
  },
  charge_is_of_generation: {
    sql: `UPDATE ledger_entries SET reference = 'gen-none' WHERE id = 3`,
    undo: `UPDATE ledger_entries SET reference = (SELECT id FROM generations ORDER BY id LIMIT 1 OFFSET 1) WHERE id = 3`,
    also: ['charge_has_entry'],
  },
  charge_has_entry: {
    sql: 'UPDATE generations SET charge_nano_usd = 1, price_nano_usd = 1 WHERE charge_nano_usd = 0',
    undo: 'UPDATE generations SET charge_nano_usd = 0, price_nano_usd = 0 WHERE charge_nano_usd = 1',
    also: ['price_is_usage_by_rates', 'key_usage_is_charges'],
  },
  none_runs_at_rest: {
    sql: "UPDATE generations SET state = 'running' WHERE id = (SELECT min(id) FROM generations)",
    undo: "UPDATE generations SET state = 'settled'",
  },
  days_are_charges: {
    sql: 'UPDATE usage_days SET charge_nano_usd = charge_nano_usd + 1',
    undo: 'UPDATE usage_days SET charge_nano_usd = charge_nano_usd - 1',
    also: ['key_usage_is_days'],
  },
  key_usage_is_charges: {
    sql: 'UPDATE api_keys SET usage_nano_usd = usage_nano_usd + 1',
    undo: 'UPDATE api_keys SET usage_nano_usd = usage_nano_usd - 1',
    also: ['key_usage_is_days'],
  },
  key_usage_is_days: {
    sql: "UPDATE usage_days SET key_id = 'key_other'",
    undo: 'UPDATE usage_days SET key_id = (SELECT id FROM api_keys)',
  },
  price_is_usage_by_rates: {
    sql: `UPDATE generations SET usage = '{"tokens":{"output":4}}' WHERE id = (SELECT min(id) FROM generations)`,
    undo: `UPDATE generations SET usage = '{"tokens":{"output":3}}'`,
  },
}

describe('finds what was done to the file', () => {
  beforeAll(async () => {
    // A free answer, for the row that pretends it was charged.
    const { ledger, account, keyId, newId } = fixture
    const hold = ledger.hold({
      generationId: newId(),
      accountId: account.id,
      keyId,
      amountNanoUsd: 0n,
    })
    await ledger.settle(hold, receiptFor(hold), { onCommitFailure: 'keep' }).committed
    const raw = await openRaw(fixture.file)
    raw.exec(
      'DROP TRIGGER ledger_entries_never_change; DROP TRIGGER ledger_entries_never_go; DROP INDEX ledger_entries_reference',
    )
    raw.close()
  })

  test.each(Object.entries(tamperings))('%s', async (invariant, { sql, undo, also = [] }) => {
    expect(await audit(fixture.db)).toEqual([])
    const raw = await openRaw(fixture.file)
    raw.pragma('foreign_keys = OFF')
    raw.pragma('ignore_check_constraints = ON')
    raw.exec(sql)
    const findings = await audit(fixture.db)
    raw.exec(undo)
    raw.close()
    const found = new Set(findings.map(finding => finding.invariant))
    expect([...found].sort()).toEqual([invariant, ...also].sort())
    for (const { accountId, expected, found: had } of findings) {
      expect(accountId).toBe(fixture.account.id)
      expect(had).not.toBe(expected)
    }
  })
})
