/** What a key may ask about its account: the figures agree with the ledger, and with nobody else's. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AccountAccess } from '../../src/account-api/account-access.ts'
import { parseUsd } from '../../src/ledger/money.ts'
import { type Judge, judgeBy, readDocument } from '../edge/documented.ts'
import { readEvents, readJson, startTestGateway, type TestGateway, testModel } from '../harness.ts'
import { script } from '../upstream/scripted-upstream.ts'

let at: TestGateway
let judge: Judge

beforeAll(async () => {
  at = await startTestGateway({ env: { MARKUP_BASIS_POINTS: '1000' } })
  judge = judgeBy(await readDocument(at.url))
})
afterAll(() => at.close())

const get = (path: string, key: string = at.key) =>
  fetch(`${at.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
const read = async (path: string, key?: string) => readJson(await get(path, key))
const ask = (wanted: Parameters<typeof script>[0], more: Record<string, unknown> = {}) => ({
  messages: [{ role: 'user', content: script(wanted) }],
  ...more,
})
/** With the mark-up of 10 %. */
const priceOf = (input: number, output: number) =>
  ((BigInt(input) * testModel.inputNanoUsd + BigInt(output) * testModel.outputNanoUsd) * 11n) / 10n

const newAccount = async (): Promise<{ keyId: string; key: string }> => {
  const { accounts, keyRing, ledger } = at.gateway.books
  const account = await accounts.create({ name: 'Another' })
  ledger.open(account.id)
  const { id: keyId, key } = await keyRing.create({ accountId: account.id, name: 'Theirs' })
  return { keyId, key }
}

test('credits tell the balance to the nano-USD, at once after a charge', async () => {
  const before = await read('/v1/credits')
  expect(judge('Credits', before)).toEqual([])
  await (await at.chat(ask({ chunks: 7, promptTokens: 31 }))).text()
  const after = await read('/credits')
  expect(parseUsd(before.balance) - parseUsd(after.balance)).toBe(priceOf(31, 7))
  expect(parseUsd(after.total_usage) - parseUsd(before.total_usage)).toBe(priceOf(31, 7))
  expect(after).toMatchObject({ total_credits: '10', held: '0', available: after.balance })
})

test('what a running request may cost is held, and not available', async () => {
  const leave = new AbortController()
  const asked = at.chat(ask({ id: 'held', hangBeforeHead: true }, { max_tokens: 100 }), {
    signal: leave.signal,
  })
  await expect.poll(() => at.upstream.requests.some(({ id }) => id === 'held')).toBe(true)
  const { balance, held, available } = await read('/credits')
  expect(parseUsd(held)).toBeGreaterThanOrEqual(priceOf(1, 100))
  expect(parseUsd(available)).toBe(parseUsd(balance) - parseUsd(held))
  leave.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(async () => (await read('/credits')).held).toBe('0')
})

test('a key tells what it is and what it has used', async () => {
  const { keyId, key } = await newAccount()
  const fresh = await read('/v1/key', key)
  expect(judge('Key', fresh)).toEqual([])
  expect(fresh).toMatchObject({
    id: keyId,
    name: 'Theirs',
    state: 'active',
    last_used_at: null,
    limit: null,
    usage: { today: '0', this_week: '0', this_month: '0', total: '0' },
    requests: { today: 0, this_week: 0, this_month: 0, total: 0 },
  })
  expect(fresh.label).toBe(`${key.slice(0, 7)}…${key.slice(-4)}`)

  const before = await read('/key')
  await (await at.chat(ask({ chunks: 3, promptTokens: 10 }))).text()
  const used = await read('/key')
  expect(judge('Key', used)).toEqual([])
  expect(used.requests.total).toBe(before.requests.total + 1)
  for (const period of ['today', 'this_week', 'this_month', 'total'])
    expect(parseUsd(used.usage[period]) - parseUsd(before.usage[period])).toBe(priceOf(10, 3))
  expect(Date.now() - Date.parse(used.last_used_at)).toBeLessThan(120_000)
})

test('a receipt has all that the charge can be computed from', async () => {
  const response = await at.chat(ask({ chunks: 9, promptTokens: 20 }), {
    headers: { 'x-title': 'My app', 'http-referer': 'https://app.example.com' },
  })
  const answer = await readJson(response)
  const receipt = await read(`/v1/generation?id=${answer.id}`)
  expect(judge('Generation', receipt)).toEqual([])
  expect(receipt).toMatchObject({
    id: answer.id,
    state: 'settled',
    model: testModel.id,
    model_asked: testModel.id,
    provider: 'openai',
    streamed: false,
    finish_reason: 'stop',
    error: null,
    tokens_prompt: 20,
    tokens_completion: 9,
    usage: { tokens: { input: 20, output: 9 }, estimated: false },
    rates: { per_million_tokens: { input: '0.165', output: '0.66' } },
    loss: '0',
    attempts: [{ provider: 'openai', model: 'gpt-4o-mini', status: 200, error: null }],
    application: { title: 'My app', referer: 'https://app.example.com' },
    address: '127.0.0.1',
  })
  const { input, output } = receipt.rates.per_million_tokens
  const computed = (parseUsd(input) * 20n + parseUsd(output) * 9n + 500_000n) / 1_000_000n
  expect(parseUsd(receipt.charge)).toBe(computed)
  expect(receipt.price).toBe(receipt.charge)
  expect(Number(receipt.charge)).toBe(answer.usage.cost)
})

test('a receipt is there the moment its stream ends', async () => {
  const response = await at.chat(ask({ chunks: 4, promptTokens: 5 }, { stream: true }))
  const id = response.headers.get('x-generation-id') ?? ''
  const decoder = new TextDecoder()
  let text = ''
  let receipt: Promise<Response> | undefined
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.includes('[DONE]')) receipt ??= get(`/generation?id=${id}`)
  }
  const body = await readJson((await receipt) ?? Response.error())
  expect(judge('Generation', body)).toEqual([])
  expect(body).toMatchObject({ state: 'settled', streamed: true, tokens_completion: 4 })
  expect(body.ttft_ms).not.toBeNull()
})

test('answers and chunks of a chat have the documented shape', async () => {
  const whole = await readJson(await at.chat(ask({ chunks: 3, promptTokens: 5 })))
  expect(judge('ChatCompletion', whole)).toEqual([])
  const stream = await at.chat(ask({ chunks: 3, dieAfter: 2, gapMs: 5 }, { stream: true }))
  const good = await at.chat(ask({ chunks: 3 }, { stream: true }))
  const events = [...readEvents(await stream.text()), ...readEvents(await good.text())]
  expect(events.length).toBeGreaterThan(6)
  for (const event of events) if (event !== '[DONE]') expect(judge('ChatChunk', event)).toEqual([])
})

test('the receipt of another account is not told from one that never was', async () => {
  const { id } = await readJson(await at.chat(ask({ chunks: 1 })))
  const { key } = await newAccount()
  const theirs = await get(`/generation?id=${id}`, key)
  const nobodys = await get('/generation?id=gen-0000000000', key)
  expect(theirs.status).toBe(404)
  expect(nobodys.status).toBe(404)
  const body = await readJson(theirs)
  expect(body.error.code).toBe('not_found')
  expect(body).toEqual(await readJson(nobodys))
})

test.each(['', '?id=', `?id=${'g'.repeat(129)}`, '?id=a&id=b'])(
  'a receipt needs one id: %s is refused',
  async query => {
    const response = await get(`/generation${query}`)
    expect(response.status).toBe(400)
    expect((await readJson(response)).error).toMatchObject({ code: 'invalid_request', param: 'id' })
  },
)

test.each(['/key', '/credits', '/generation?id=gen-1'])(
  '%s is for holders of a key',
  async path => {
    const nobody = await fetch(`${at.url}/v1${path}`)
    expect(nobody.status).toBe(401)
    expect(nobody.headers.get('www-authenticate')).toBe('Bearer realm="tollgate"')
    expect((await readJson(nobody)).error.code).toBe('missing_api_key')

    const { keyId, key } = await newAccount()
    expect((await get(path, key)).headers.get('cache-control')).toBe('private, no-store')
    await at.gateway.books.keyRing.revoke(keyId)
    const revoked = await get(path, key)
    expect(revoked.status).toBe(401)
    expect((await readJson(revoked)).error.code).toBe('api_key_revoked')
  },
)

test('one key asks 32 questions at once, and others are not held up by it', async () => {
  const { books } = at.gateway
  const access = new AccountAccess({ ...books, clock: Date.now })
  const busy = await newAccount()
  const other = await newAccount()
  const headerOf = ({ key }: { key: string }) => `Bearer ${key}`
  let answer = () => {}
  const open = new Promise<void>(resolve => {
    answer = resolve
  })
  const waiting = Array.from({ length: 32 }, () => access.withKey(headerOf(busy), () => open))
  const tooMany = access.withKey(headerOf(busy), async () => 'late')
  await expect(tooMany).rejects.toMatchObject({
    code: 'concurrency_limit_exceeded',
    metadata: { limit: 32 },
  })
  expect(await access.withKey(headerOf(other), async ({ id }) => id)).toBe(other.keyId)
  answer()
  await Promise.all(waiting)
  // A failure gives its place back too.
  for (let round = 0; round < 40; round++) {
    const failing = access.withKey(headerOf(busy), () => Promise.reject(new Error('broken')))
    await expect(failing).rejects.toThrow('broken')
  }
  expect(await access.withKey(headerOf(busy), async () => 'served')).toBe('served')
})
