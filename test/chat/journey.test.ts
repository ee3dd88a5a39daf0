/** One request from the socket to the ledger and back: what a client gets, and what it costs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEvents, readJson, startTestGateway, type TestGateway, testModel } from '../harness.ts'
import { script } from '../upstream/scripted-upstream.ts'

let at: TestGateway

beforeAll(async () => {
  at = await startTestGateway()
})
afterAll(() => at.close())

const ask = (wanted: Parameters<typeof script>[0], more: Record<string, unknown> = {}) => ({
  messages: [{ role: 'user', content: script(wanted) }],
  ...more,
})
const priceOf = (input: number, output: number) =>
  BigInt(input) * testModel.inputNanoUsd + BigInt(output) * testModel.outputNanoUsd

test('a whole answer costs exactly the price of its usage', async () => {
  const before = at.balance()
  const response = await at.chat(ask({ chunks: 7, promptTokens: 31 }))
  const answer = await readJson(response)
  expect(response.status).toBe(200)
  expect(answer).toMatchObject({
    object: 'chat.completion',
    model: testModel.id,
    provider: 'openai',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        logprobs: null,
        message: { role: 'assistant', refusal: null },
      },
    ],
    usage: {
      prompt_tokens: 31,
      completion_tokens: 7,
      total_tokens: 38,
      cost: Number(priceOf(31, 7)) / 1e9,
    },
  })
  expect(answer.id).toBe(response.headers.get('x-generation-id'))
  expect(response.headers.get('cache-control')).toBe('private, no-store')
  expect(before - at.balance()).toBe(priceOf(31, 7))
})

test('a streamed answer is charged before its [DONE], and ends with its usage', async () => {
  const before = at.balance()
  const response = await at.chat(ask({ chunks: 5, promptTokens: 12 }, { stream: true }))
  const events = readEvents(await response.text())
  expect(before - at.balance()).toBe(priceOf(12, 5))
  expect(events.at(-1)).toBe('[DONE]')
  expect(events.at(-2)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 12, completion_tokens: 5, cost: Number(priceOf(12, 5)) / 1e9 },
  })
  expect(events.filter(event => event === '[DONE]')).toHaveLength(1)
  const chunks = events.slice(0, -1) as { id: string; model: string; created: number }[]
  expect(new Set(chunks.map(({ id, model, created }) => `${id} ${model} ${created}`)).size).toBe(1)
})

test('the route answers without /v1 too', async () => {
  const response = await fetch(`${at.url}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `bearer ${at.key}`,
      'content-type': 'application/json; charset=utf-8',
    },
    body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] }),
  })
  expect(response.status).toBe(200)
  expect((await readJson(response)).choices[0].message.content).toContain('hello')
})

test('chunks leave as they arrive', async () => {
  const response = await at.chat(ask({ chunks: 3, gapMs: 150 }, { stream: true }))
  const arrivals: number[] = []
  for await (const _bytes of response.body ?? []) arrivals.push(performance.now())
  expect(arrivals.length).toBeGreaterThanOrEqual(3)
  expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(200)
})

test('a client that leaves mid-stream closes the upstream and pays for what it got', async () => {
  const before = at.balance()
  const leave = new AbortController()
  const response = await at.chat(ask({ id: 'leaver', chunks: 1000, gapMs: 5 }, { stream: true }), {
    signal: leave.signal,
  })
  const reader = response.body?.getReader()
  for (let reads = 0; reads < 10; reads++) await reader?.read()
  leave.abort()
  await expect.poll(() => at.upstream.request('leaver').peerClosedAt).not.toBeNull()
  const { tokensProduced } = at.upstream.request('leaver')
  await expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
  const charged = before - at.balance()
  expect(charged).toBeGreaterThan(priceOf(0, 5))
  expect(charged).toBeLessThanOrEqual(priceOf(200, tokensProduced))
})

test('a client that leaves before anything came pays nothing', async () => {
  const before = at.balance()
  const leave = new AbortController()
  const asked = at.chat(ask({ id: 'early', hangBeforeHead: true }), { signal: leave.signal })
  await expect.poll(() => at.upstream.requests.some(({ id }) => id === 'early')).toBe(true)
  leave.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => at.upstream.request('early').peerClosedAt).not.toBeNull()
  await expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
  expect(at.balance()).toBe(before)
})

test('an upstream that dies mid-stream ends in an error chunk without [DONE], and what came is paid', async () => {
  const before = at.balance()
  const response = await at.chat(ask({ chunks: 9, dieAfter: 4, gapMs: 10 }, { stream: true }))
  const events = readEvents(await response.text())
  expect(events).not.toContain('[DONE]')
  expect(events.at(-1)).toMatchObject({
    error: { code: 'provider_error' },
    choices: [{ finish_reason: 'error' }],
  })
  const charged = before - at.balance()
  expect(charged).toBeGreaterThanOrEqual(priceOf(1, 4))
  expect(charged).toBeLessThan(priceOf(200, 5))
})

test('an upstream that is dead is a 503 and costs nothing', async () => {
  const before = at.balance()
  const dead = await startTestGateway({ env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } })
  const response = await dead.chat(ask({}))
  expect(response.status).toBe(503)
  expect((await readJson(response)).error.code).toBe('provider_unavailable')
  expect(dead.balance()).toBe(10_000_000_000n)
  expect(at.balance()).toBe(before)
  await dead.close()
})

test('what the model is known not to take is refused before anything is held', async () => {
  const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]
  const before = at.upstream.requests.length
  const response = await at.chat({ model: 'openai/o3-mini', messages: [{ role: 'user', content }] })
  expect(response.status).toBe(400)
  expect((await readJson(response)).error).toMatchObject({
    code: 'unsupported_parameter',
    param: 'messages[0].content[0]',
  })
  expect(at.upstream.requests).toHaveLength(before)
})
