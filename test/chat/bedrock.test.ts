/** Bedrock through the whole gateway: what is signed is what goes over the wire, and frames become our stream. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { frameOf } from '../dialects/bedrock-converse-hub.ts'
import { readEvents, readJson, startTestGateway, type TestGateway } from '../harness.ts'
import { keyPair, signedByAmazon } from '../wire/amazon-signer.ts'

let answer: (response: ServerResponse) => void = response => response.end()
let received: { path: string; headers: IncomingMessage['headers']; body: string }

const upstream = createServer(async (request, response) => {
  let body = ''
  for await (const bytes of request) body += bytes
  received = { path: request.url ?? '', headers: request.headers, body }
  answer(response)
})

const token = 'FwoGZXIvYXdzEBY+/canary=='
let at: TestGateway
beforeAll(async () => {
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  at = await startTestGateway({
    env: {
      BEDROCK_API_KEY: `${keyPair.accessKeyId}:${keyPair.secretAccessKey}:${token}`,
      BEDROCK_BASE_URL: `http://127.0.0.1:${port}/behind`,
    },
  })
})
afterAll(async () => {
  await at.close()
  upstream.closeAllConnections()
  upstream.close()
})

const model = 'bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0'
const asking = { model, messages: [{ role: 'user', content: 'grüß dich' }], max_tokens: 50 }
/** nano-USD a token: $1.10 and $5.50 a million. */
const rate = { input: 1_100n, output: 5_500n }

const settled = () => expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)

/** As Amazon would check it, from what came over the wire. */
const expectSigned = async (): Promise<void> => {
  const date = String(received.headers['x-amz-date'])
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date)?.map(Number) ?? []
  const atMs = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second)
  expect(Math.abs(Date.now() - atMs)).toBeLessThan(60_000)
  const theirs = await signedByAmazon(
    {
      url: `http://${received.headers.host}${received.path}`,
      body: received.body,
      headers: { 'content-type': String(received.headers['content-type']) },
      token,
    },
    'us-east-1',
    atMs,
  )
  expect(received.headers.authorization).toBe(theirs.authorization)
  expect(received.headers['x-amz-security-token']).toBe(token)
}

test('a whole answer is asked for with a signature that Amazon would accept, and charged', async () => {
  answer = response => {
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
        metrics: { latencyMs: 1 },
      }),
    )
  }
  const before = at.balance()
  const response = await at.chat(asking)
  expect(response.status).toBe(200)
  expect(await readJson(response)).toMatchObject({
    model,
    provider: 'bedrock',
    choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 7 },
  })
  expect(before - at.balance()).toBe(11n * rate.input + 7n * rate.output)
  expect(received.path).toBe('/behind/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse')
  await expectSigned()
})

const delta = (text: string): Buffer =>
  frameOf({ contentBlockDelta: { contentBlockIndex: 0, delta: { text }, p: 'abc' } })

test('frames become our stream, and its usage is charged', async () => {
  answer = response => {
    response.setHeader('content-type', 'application/vnd.amazon.eventstream')
    const frames = [
      frameOf({ messageStart: { role: 'assistant', p: 'a' } }),
      ...['Hel', 'lo', '.'].map(delta),
      frameOf({ contentBlockStop: { contentBlockIndex: 0 } }),
      frameOf({ messageStop: { stopReason: 'end_turn' } }),
      frameOf({ metadata: { usage: { inputTokens: 11, outputTokens: 3, totalTokens: 14 } } }),
    ]
    for (const bytes of frames) response.write(bytes)
    response.end()
  }
  const before = at.balance()
  const response = await at.chat({ ...asking, stream: true })
  const events = readEvents(await response.text())
  expect(events.at(-1)).toBe('[DONE]')
  expect(events.at(-2)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } })
  const text = JSON.stringify(events)
  expect(text).toContain('"content":"Hel"')
  expect(text).not.toContain('"p":')
  expect(before - at.balance()).toBe(11n * rate.input + 3n * rate.output)
  expect(received.path).toMatch(/%3A0\/converse-stream$/)
  await expectSigned()
})

test('an exception inside a good answer is an error chunk without an end', async () => {
  answer = response => {
    response.setHeader('content-type', 'application/vnd.amazon.eventstream')
    response.write(delta('Hel'))
    response.end(frameOf({ throttlingException: { message: 'Too many tokens' } }, 'exception'))
  }
  const response = await at.chat({ ...asking, stream: true })
  const events = readEvents(await response.text())
  expect(events.at(-1)).toMatchObject({
    error: { code: 'provider_rate_limited' },
    choices: [{ finish_reason: 'error' }],
  })
  expect(events).not.toContain('[DONE]')
  await settled()
})

test('a refused signature is our credential refused, and tells nobody the keys', async () => {
  answer = response => {
    response.statusCode = 403
    response.setHeader('x-amzn-errortype', 'InvalidSignatureException:http://internal.amazon.com/')
    response.end(JSON.stringify({ message: `Canonical: x-amz-security-token:${token}` }))
  }
  const before = at.balance()
  const response = await at.chat(asking)
  expect(response.status).toBe(502)
  const body = await response.text()
  expect(body).toContain('provider_rejected_credentials')
  for (const secret of [token, keyPair.accessKeyId, keyPair.secretAccessKey])
    expect(body).not.toContain(secret)
  await settled()
  expect(at.balance()).toBe(before)
})
