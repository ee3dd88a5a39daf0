/** A database that takes no commits: another process holds its write lock, for longer than anybody waits. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Connection, loadSqlite } from '../../src/db/sqlite.ts'
import { audit } from '../../src/ledger/audit.ts'
import { countedPrompt } from '../counted-prompt.ts'
import { readEvents, startTestGateway, type TestGateway, testModel } from '../harness.ts'
import type { ScriptInput } from '../upstream/scripted-upstream.ts'

let at: TestGateway
let other: Connection

beforeAll(async () => {
  at = await startTestGateway()
  const Sqlite = await loadSqlite()
  other = new Sqlite(join(at.folder, 'tollgate.db'))
})
afterAll(async () => {
  other.close()
  await at.close()
})

const ask = (wanted: ScriptInput, stream: boolean) => {
  const { content } = countedPrompt(wanted)
  return at.chat({ stream, messages: [{ role: 'user', content }] })
}

const codeOf = async (response: Response): Promise<unknown> => {
  const { error } = (await response.json()) as { error: { code: unknown } }
  return error.code
}

const priceOf = (id: string): bigint => {
  const { usage } = at.upstream.request(id)
  return (
    BigInt(Number(usage?.prompt_tokens)) * testModel.inputNanoUsd +
    BigInt(Number(usage?.completion_tokens)) * testModel.outputNanoUsd
  )
}

const ready = async (): Promise<number> => (await fetch(`${at.url}/ready`)).status

test('what cannot be charged is not served, and what was delivered is charged when it can be', {
  timeout: 40_000,
}, async () => {
  const before = at.balance()
  const { ledger, db } = at.gateway.books
  expect(await ready()).toBe(200)

  other.exec('BEGIN IMMEDIATE')
  const [whole, streamed] = await Promise.all([
    ask({ id: 'whole', chunks: 9 }, false),
    ask({ id: 'streamed', chunks: 9 }, true),
  ])
  // A whole answer gave the client nothing, so it costs nothing.
  expect(whole.status).toBe(503)
  expect(await codeOf(whole)).toBe('ledger_unavailable')
  expect(whole.headers.get('retry-after')).not.toBeNull()
  // A stream has given all but its end.
  const events = readEvents(await streamed.text())
  expect(events).not.toContain('[DONE]')
  expect(events.at(-1)).toMatchObject({
    error: { code: 'ledger_unavailable' },
    choices: [{ finish_reason: 'error' }],
  })
  expect(at.balance()).toBe(before - priceOf('streamed'))

  // Nothing new is dispatched.
  expect(await ready()).toBe(503)
  for (const stream of [false, true]) {
    const refused = await ask({ id: `refused-${stream}` }, stream)
    expect(refused.status).toBe(503)
    expect(await codeOf(refused)).toBe('ledger_unavailable')
  }
  expect(at.upstream.requests.map(({ id }) => id).sort()).toEqual(['streamed', 'whole'])
  expect(ledger.stats.openHolds).toBe(0)

  other.exec('ROLLBACK')
  await expect.poll(ready, { timeout: 10_000 }).toBe(200)
  await ledger.drain()
  const rows = await db.read<{ charge_nano_usd: bigint; state: string }>(
    'SELECT charge_nano_usd, state FROM generations',
  )
  expect(rows).toEqual([{ charge_nano_usd: priceOf('streamed'), state: 'settled' }])
  expect(await audit(db)).toEqual([])

  expect((await ask({ id: 'after' }, false)).status).toBe(200)
  expect(at.balance()).toBe(before - priceOf('streamed') - priceOf('after'))
})
