import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestGateway, type TestGateway } from '../harness.ts'
import { type Tollgate, tollgateIn } from './tollgate.ts'

// Each command is a process of its own, and a machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

let served: TestGateway
let tollgate: Tollgate

beforeAll(async () => {
  served = await startTestGateway({ credit: '0' })
  tollgate = await tollgateIn({ DATABASE_URL: `file:${served.folder}/tollgate.db` })
})
afterAll(async () => {
  await served.close()
  await tollgate.remove()
})

const codeOf = async (key = served.key): Promise<string> => {
  const messages = [{ role: 'user', content: 'Hello' }]
  const headers = { authorization: `Bearer ${key}` }
  const answer = await served.chat({ model: 'demo/echo', messages }, { headers })
  const body = JSON.parse(await answer.text())
  return body.error?.code ?? 'answered'
}

test('each change is effective in a running gateway from the next request on', async () => {
  const { accountId, keyId } = served
  expect(await codeOf()).toBe('insufficient_credits')
  await tollgate.json('account', 'credit', accountId, '5', '--reference', 'r')
  expect(await codeOf()).toBe('answered')
  await tollgate.json('account', 'suspend', accountId)
  expect(await codeOf()).toBe('account_suspended')
  await tollgate.json('account', 'resume', accountId)
  expect(await codeOf()).toBe('answered')
  await tollgate.json('key', 'disable', keyId)
  expect(await codeOf()).toBe('api_key_disabled')
  await tollgate.json('key', 'enable', keyId)
  expect(await codeOf()).toBe('answered')
  await tollgate.json('key', 'revoke', keyId)
  expect(await codeOf()).toBe('api_key_revoked')
})

test('an account and a key made beside a running gateway are used at once', async () => {
  const account = await tollgate.json('account', 'create', '--name', 'New', '--credit', '1')
  const { key } = await tollgate.json('key', 'create', '--account', account.id, '--name', 'k')
  expect(await codeOf(key)).toBe('answered')
  const { data } = await tollgate.json('account', 'ledger', account.id)
  expect(data).toMatchObject([{ kind: 'charge' }, { kind: 'top_up', amount: '1' }])
  expect(await tollgate.json('audit')).toMatchObject({ clean: true, generations: 4 })
})
