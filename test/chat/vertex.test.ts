/** A provider whose credential is exchanged, over real sockets: the token endpoint and the provider are one server. */
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEvents, readJson, startTestGateway, type TestGateway } from '../harness.ts'

type Seen = { path: string; authorization: string | undefined; body: string }

const seen: Seen[] = []
let refuses: string | null = null
let server: Server
let gateway: TestGateway

const event = (text: string, more: object = {}) => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 4,
    thoughtsTokenCount: 6,
    totalTokenCount: 20,
  },
  modelVersion: 'gemini-2.5-flash',
})

const respond = (path: string): string => {
  if (path === '/token')
    return JSON.stringify({ access_token: `token-${tokensAsked()}-canary`, expires_in: 3599 })
  if (!path.includes('stream')) return JSON.stringify(event('Hello', { finishReason: 'STOP' }))
  const events = [event('Hel'), event('lo'), event('!', { finishReason: 'STOP' })]
  return events.map(one => `data: ${JSON.stringify(one)}\r\n\r\n`).join('')
}

const tokensAsked = () => seen.filter(({ path }) => path === '/token').length
const calls = () => seen.filter(({ path }) => path !== '/token')

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      const path = request.url ?? ''
      const { authorization } = request.headers
      seen.push({ path, authorization, body })
      const bad = path !== '/token' && authorization === refuses
      response.writeHead(bad ? 401 : 200).end(bad ? '{"error":{"code":401}}' : respond(path))
    })
  })
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const keyFile = { client_email: 'a@b.test', private_key: privateKey, token_uri: `${url}/token` }
  gateway = await startTestGateway({
    env: {
      VERTEX_API_KEY: JSON.stringify(keyFile),
      VERTEX_BASE_URL: `${url}/v1/projects/p/locations/l/publishers/google`,
    },
  })
})

afterAll(async () => {
  await gateway.close()
  server.closeAllConnections()
  server.close()
})

const messages = [{ role: 'user', content: 'Hi' }]
const chat = (body: object) => gateway.chat({ model: 'vertex/gemini-2.5-flash', messages, ...body })

test('many requests at once wait for one token, and pay what was used', async () => {
  const before = gateway.balance()
  const answers = await Promise.all(Array.from({ length: 5 }, () => chat({}).then(readJson)))
  expect(tokensAsked()).toBe(1)
  expect(calls().map(({ authorization }) => authorization)).toEqual(
    Array(5).fill('Bearer token-1-canary'),
  )
  expect(calls()[0]?.path).toBe(
    '/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent',
  )
  for (const answer of answers) {
    expect(answer.choices[0]).toMatchObject({
      message: { content: 'Hello' },
      finish_reason: 'stop',
    })
    expect(answer.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 10 })
  }
  // $0.30 and $2.50 a million.
  expect(before - gateway.balance()).toBe(5n * (10n * 300n + 10n * 2_500n))
})

test('a stream comes whole, with its usage', async () => {
  const response = await chat({ stream: true })
  const events = readEvents(await response.text()) as {
    choices: { delta: { content?: string } }[]
    usage?: { completion_tokens: number; estimated?: true }
  }[]
  expect(events.at(-1)).toBe('[DONE]')
  const text = events.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta.content ?? ''))
  expect(text.join('')).toBe('Hello!')
  const usage = events.findLast(one => one.usage)?.usage
  expect(usage).toMatchObject({ completion_tokens: 10 })
  expect(usage?.estimated).toBeUndefined()
})

test('a refused token is no fault of the client, and the next request gets another', async () => {
  refuses = 'Bearer token-1-canary'
  const refused = await chat({})
  expect(refused.status).toBe(502)
  const body = await refused.text()
  expect(JSON.parse(body).error.code).toBe('provider_rejected_credentials')
  expect(body).not.toContain('canary')
  expect((await chat({})).status).toBe(200)
  expect(tokensAsked()).toBe(2)
})

test('an image at an address of ours is refused before anything is sent or paid', async () => {
  const before = { balance: gateway.balance(), calls: calls().length }
  const url = `${gateway.url}/v1/models`
  const content = [
    { type: 'text', text: 'What is it?' },
    { type: 'image_url', image_url: { url } },
  ]
  const response = await chat({ messages: [{ role: 'user', content }] })
  expect(response.status).toBe(400)
  expect((await readJson(response)).error).toMatchObject({
    code: 'invalid_request',
    param: 'messages[0].content[1]',
    message: expect.stringContaining('its address is not a public one'),
  })
  expect({ balance: gateway.balance(), calls: calls().length }).toEqual(before)
})
