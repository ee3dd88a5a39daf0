/** A provider of another wire format through the whole gateway: what goes out, what comes back, what is charged. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEvents, readJson, startTestGateway, type TestGateway } from '../harness.ts'

type Answer = (response: ServerResponse) => void

let answer: Answer = response => response.end()
let received: { path: string | undefined; headers: IncomingMessage['headers']; body: string }

const upstream = createServer(async (request, response) => {
  let body = ''
  for await (const bytes of request) body += bytes
  received = { path: request.url, headers: request.headers, body }
  answer(response)
})

let at: TestGateway
beforeAll(async () => {
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  at = await startTestGateway({
    env: {
      ANTHROPIC_API_KEY: 'sk-ant-canary',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    },
  })
})
afterAll(async () => {
  await at.close()
  upstream.closeAllConnections()
  upstream.close()
})

/** nano-USD a token of claude-sonnet-4-5: $3 and $15 a million; read from the cache $0.30, written $3.75 and $6. */
const rate = {
  input: 3_000n,
  output: 15_000n,
  cacheRead: 300n,
  cacheWrite: 3_750n,
  cacheWrite1h: 6_000n,
}
const asking = (more: Record<string, unknown> = {}) => ({
  model: 'anthropic/claude-sonnet-4-5',
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})
const event = (fields: { type: string; [field: string]: unknown }): string =>
  `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`
const start = event({
  type: 'message_start',
  message: { id: 'msg_1', content: [], usage: { input_tokens: 700, output_tokens: 1 } },
})
const textStart = event({
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '' },
})
const piece = (text: string): string =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })

const settled = () => expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
const charged = async (run: () => Promise<void>): Promise<bigint> => {
  const before = at.balance()
  await run()
  await settled()
  return before - at.balance()
}

test('a whole answer is charged by every class', async () => {
  answer = response => {
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        type: 'message',
        content: [{ type: 'text', text: 'Hello.' }],
        stop_reason: 'end_turn',
        usage: {
          input_tokens: 3,
          cache_read_input_tokens: 1000,
          cache_creation_input_tokens: 50,
          cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
          output_tokens: 7,
        },
      }),
    )
  }
  const cost = await charged(async () => {
    const response = await at.chat(asking())
    expect(response.status).toBe(200)
    expect(await readJson(response)).toMatchObject({
      model: 'anthropic/claude-sonnet-4-5',
      choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 1053,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 1000 },
      },
    })
  })
  expect(cost).toBe(
    3n * rate.input +
      1000n * rate.cacheRead +
      20n * rate.cacheWrite +
      30n * rate.cacheWrite1h +
      7n * rate.output,
  )
  expect(received.path).toBe('/v1/messages')
  expect(received.headers).toMatchObject({
    'x-api-key': 'sk-ant-canary',
    'anthropic-version': '2023-06-01',
  })
  expect(received.headers).not.toHaveProperty('authorization')
})

test('a stream comes in our words, and ends after the settle', async () => {
  answer = response => {
    response.setHeader('content-type', 'text/event-stream')
    response.write(start + textStart + piece('Hel') + piece('lo'))
    response.end(
      event({ type: 'content_block_stop', index: 0 }) +
        event({
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { output_tokens: 9 },
        }) +
        event({ type: 'message_stop' }),
    )
  }
  const cost = await charged(async () => {
    const events = readEvents(await (await at.chat(asking({ stream: true }))).text())
    expect(events).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: 'Hel' } }] },
      { choices: [{ delta: { content: 'lo' } }] },
      { choices: [{ finish_reason: 'stop', native_finish_reason: 'end_turn' }] },
      { choices: [], usage: { prompt_tokens: 700, completion_tokens: 9 } },
      '[DONE]',
    ])
  })
  expect(cost).toBe(700n * rate.input + 9n * rate.output)
})

test('a client that leaves pays the input that the upstream counted, and what it was sent', async () => {
  answer = response => {
    response.setHeader('content-type', 'text/event-stream')
    response.write(start + textStart + piece('one') + piece(' two') + piece(' three'))
  }
  const cost = await charged(async () => {
    const leaving = new AbortController()
    const response = await at.chat(asking({ stream: true }), { signal: leaving.signal })
    const reader = response.body!.getReader()
    let text = ''
    while (!text.includes(' three')) text += new TextDecoder().decode((await reader.read()).value)
    leaving.abort()
    await reader.closed.catch(() => {})
  })
  expect(cost).toBe(700n * rate.input + 3n * rate.output)
})

test('an upstream that is overloaded before it said a word costs nothing', async () => {
  answer = response => {
    response.setHeader('content-type', 'text/event-stream')
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    response.end(start + event({ type: 'error', error }))
  }
  const cost = await charged(async () => {
    const response = await at.chat(asking({ stream: true }))
    expect(response.status).toBe(503)
    expect(await readJson(response)).toMatchObject({ error: { code: 'provider_unavailable' } })
  })
  expect(cost).toBe(0n)
})

test('what the format can’t honour is refused before a byte goes out', async () => {
  received = { path: undefined, headers: {}, body: '' }
  const response = await at.chat(asking({ logprobs: true }))
  expect(response.status).toBe(400)
  expect(await readJson(response)).toMatchObject({
    error: { code: 'unsupported_parameter', param: 'logprobs' },
  })
  expect(received.path).toBeUndefined()
})
