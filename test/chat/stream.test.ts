/** What happens on the way of a stream: silence, slow readers, broken bytes, lies, and the gateway's stop. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents, startTestGateway, type TestGateway, testModel } from '../harness.ts'
import { head, openSocket, sendRaw } from '../raw-socket.ts'
import { type ScriptInput, script } from '../upstream/scripted-upstream.ts'
import { words } from '../upstream/vocabulary.ts'

let at: TestGateway
beforeAll(async () => {
  at = await startTestGateway({
    env: { KEEP_ALIVE_INTERVAL: '250ms', CORS_ORIGINS: 'https://app.example.com' },
    credit: '100',
  })
})
afterAll(() => at.close())

const asking = (wanted: ScriptInput, more: Record<string, unknown> = {}) => ({
  messages: [{ role: 'user', content: script(wanted) }],
  stream: true,
  ...more,
})
const priceOf = (input: number, output: number) =>
  BigInt(input) * testModel.inputNanoUsd + BigInt(output) * testModel.outputNanoUsd

type Chunk = {
  choices: {
    delta: { content?: string }
    finish_reason: string | null
    native_finish_reason?: string
  }[]
  usage?: Record<string, unknown>
  error?: { code: string }
}
const chunksOf = (text: string): Chunk[] =>
  readEvents(text).filter(event => event !== '[DONE]') as Chunk[]
const contentOf = (text: string): string =>
  chunksOf(text)
    .map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('')
const settled = (gateway: TestGateway) =>
  expect.poll(() => gateway.gateway.books.ledger.stats.openHolds).toBe(0)

describe('silence', () => {
  const comment = ': tollgate\n\n'

  test('before the first token and between chunks is filled with comments', async () => {
    const response = await at.chat(asking({ chunks: 2, delayMs: 1_200, gapMs: 1_200 }))
    expect(response.status).toBe(200)
    const text = await response.text()
    const [before = '', between = ''] = text.split('data: ')
    expect(before).toContain(comment)
    expect(between).toContain(comment)
    expect(contentOf(text)).toBe(words(0, 2))
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('that ends in a failure is told in an error chunk, and is free', async () => {
    const before = at.balance()
    const response = await at.chat(asking({ delayMs: 1_000, status: 503 }))
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).toContain(comment)
    expect(text).not.toContain('[DONE]')
    expect(chunksOf(text)).toMatchObject([
      { error: { code: 'provider_unavailable' }, choices: [{ finish_reason: 'error' }] },
    ])
    await settled(at)
    expect(at.balance()).toBe(before)
  })

  test('of a quick stream is none', async () => {
    expect(await (await at.chat(asking({ chunks: 50 }))).text()).not.toContain(comment)
  })
})

describe('bytes', () => {
  const shapes: [name: string, wanted: ScriptInput][] = [
    ['cut one by one', { cutBytes: 1 }],
    ['among comments and events of other kinds', { noise: true }],
    ['cut by threes among noise', { cutBytes: 3, noise: true }],
    ['of many tokens a chunk', { tokensPerChunk: 40 }],
  ]
  test.each(shapes)('%s arrive as they were said', async (_name, wanted) => {
    const text = await (await at.chat(asking({ chunks: 5, ...wanted }))).text()
    expect(contentOf(text)).toBe(words(0, 5 * (wanted.tokensPerChunk ?? 1)))
    expect(text.match(/\[DONE\]/g)).toHaveLength(1)
    expect(text).not.toContain('ping')
  })
})

describe('the end', () => {
  const reasons: [native: string, ours: string][] = [
    ['stop', 'stop'],
    ['length', 'length'],
    ['eos', 'stop'],
    ['max_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['function_call', 'tool_calls'],
    ['a word of tomorrow', 'error'],
  ]
  test.each(reasons)('"%s" is told as "%s", and kept', async (native, ours) => {
    const text = await (await at.chat(asking({ finishReason: native }))).text()
    const ends = chunksOf(text).flatMap(({ choices }) => choices.filter(c => c.finish_reason))
    expect(ends).toMatchObject([{ finish_reason: ours, native_finish_reason: native }])
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('without [DONE] is no end: an error, and what came is paid', async () => {
    const before = at.balance()
    const text = await (await at.chat(asking({ noDone: true, promptTokens: 20 }))).text()
    expect(text).not.toContain('[DONE]')
    expect(chunksOf(text).at(-1)).toMatchObject({ error: { code: 'provider_invalid_response' } })
    await settled(at)
    expect(before - at.balance()).toBe(priceOf(20, 5))
  })
})

describe('usage', () => {
  const usageOf = (text: string) => chunksOf(text).at(-1)?.usage

  test.each([
    ['not asked for', {}],
    ['declined', { stream_options: { include_usage: false } }],
    ['asked for', { stream_options: { include_usage: true } }],
  ])('%s is told in the last chunk', async (_name, more) => {
    const before = at.balance()
    const text = await (await at.chat(asking({ promptTokens: 9, chunks: 4 }, more))).text()
    expect(chunksOf(text).at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 4, cost: Number(priceOf(9, 4)) / 1e9 },
    })
    expect(chunksOf(text).filter(({ usage }) => usage)).toHaveLength(1)
    expect(before - at.balance()).toBe(priceOf(9, 4))
  })

  const untold: [name: string, wanted: ScriptInput][] = [
    ['missing', { noUsage: true }],
    ['negative', { usage: { completion_tokens: -7 } }],
    ['fractional', { usage: { completion_tokens: 1.5 } }],
    ['absurd', { usage: { prompt_tokens: 1e15 } }],
    ['a text', { usage: { completion_tokens: '12' } }],
    ['null', { usage: { prompt_tokens: null } }],
    ['with a negative detail', { usage: { prompt_tokens_details: { cached_tokens: -1 } } }],
  ]
  test.each(untold)('that is %s is counted instead', async (_name, wanted) => {
    for (const stream of [true, false]) {
      const before = at.balance()
      const response = await at.chat(asking({ chunks: 37, ...wanted }, { stream }))
      const text = await response.text()
      const usage = stream ? usageOf(text) : JSON.parse(text).usage
      expect(usage).toMatchObject({ completion_tokens: 37, estimated: true })
      expect(before - at.balance()).toBe(priceOf(usage.prompt_tokens, 37))
    }
  })

  test('that runs along is counted once', async () => {
    const before = at.balance()
    await (await at.chat(asking({ chunks: 6, usageInChunks: true, promptTokens: 3 }))).text()
    expect(before - at.balance()).toBe(priceOf(3, 6))
  })

  test('above what the balance holds takes what is there, and no more', async () => {
    const poor = await startTestGateway({ credit: '0.01' })
    const lie = { usage: { prompt_tokens: 90_000_000, total_tokens: 90_000_005 } }
    const text = await (await poor.chat(asking(lie, { max_tokens: 10 }))).text()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(poor.balance()).toBe(0n)
    await poor.close()
  })
})

describe('headers', () => {
  test.each([
    ['a sane request id is kept', 'trace:1.2_3-x', true],
    ['one with a blank is replaced', 'a b', false],
    ['one that is too long is replaced', 'x'.repeat(129), false],
    ['one with an umlaut is replaced', '\u00e4', false],
  ])('%s', async (_name, id, kept) => {
    const response = await at.chat(asking({}), { headers: { 'x-request-id': id } })
    await response.text()
    const given = response.headers.get('x-request-id')
    if (kept) expect(given).toBe(id)
    else expect(given).toMatch(/^req-[\w-]+$/)
  })

  test('a stream carries those of every answer, those of CORS included', async () => {
    const response = await at.chat(asking({}), { headers: { origin: 'https://app.example.com' } })
    await response.text()
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'private, no-store',
      'x-generation-id': expect.stringMatching(/^gen-/),
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-expose-headers': expect.stringMatching(/x-generation-id.*x-should-retry/),
      vary: 'Origin',
    })
  })

  test('another origin is not let in, and a preflight is answered', async () => {
    const response = await at.chat(asking({}), { headers: { origin: 'https://evil.example.com' } })
    await response.text()
    expect(response.headers.get('access-control-allow-origin')).not.toBe('https://evil.example.com')
    const preflight = await fetch(`${at.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization')
    const plain = await fetch(`${at.url}/v1/chat/completions`, { method: 'OPTIONS' })
    expect([plain.status, await plain.text()]).toEqual([204, ''])
  })
})

describe('a client that reads slowly', () => {
  /** 24 MB: far more than the sockets between upstream and client hold. */
  const large: ScriptInput = { chunks: 4_000, tokensPerChunk: 1_000, promptTokens: 1 }

  const unread = async (gateway: TestGateway, wanted: ScriptInput, stream: boolean) => {
    const body = JSON.stringify({ model: testModel.id, ...asking(wanted, { stream }) })
    const socket = await openSocket(gateway.url)
    socket.pause()
    const headers = [
      ['host', 'localhost'],
      ['connection', 'close'],
      ['authorization', `Bearer ${gateway.key}`],
      ['content-type', 'application/json'],
      ['content-length', String(body.length)],
    ] as const
    socket.write(head('POST /v1/chat/completions HTTP/1.1', headers) + body)
    return socket
  }

  test('holds the upstream back, then gets everything', { timeout: 60_000 }, async () => {
    const rss = process.memoryUsage.rss()
    const socket = await unread(at, { id: 'slow', ...large }, true)
    await expect.poll(() => at.upstream.requests.some(({ id }) => id === 'slow')).toBe(true)
    const entry = at.upstream.request('slow')
    let sent = -1
    while (sent !== entry.tokensSent) {
      sent = entry.tokensSent
      await sleep(500)
    }
    expect(sent).toBeLessThan(3_000_000)
    expect(process.memoryUsage.rss() - rss).toBeLessThan(100 * 1024 * 1024)
    let text = ''
    for await (const bytes of socket) text += bytes
    expect(text).toContain('data: [DONE]')
    expect(text.match(/"content":"[^"]+"/g)).toHaveLength(4_000)
    expect(at.upstream.request('slow').tokensSent).toBe(4_000_000)
    await settled(at)
  })

  test('behind another answer on the same connection does not bring the gateway down', async () => {
    const request = (wanted: ScriptInput) => {
      const body = JSON.stringify({ model: testModel.id, ...asking(wanted) })
      const headers = [
        ['host', 'localhost'],
        ['authorization', `Bearer ${at.key}`],
        ['content-type', 'application/json'],
        ['content-length', String(body.length)],
      ] as const
      return head('POST /v1/chat/completions HTTP/1.1', headers) + body
    }
    // The second answer is over at once, and waits for the first; its silence must not be filled any more.
    const both = [request({ chunks: 2, gapMs: 2_000 }) + request({ chunks: 2 })]
    const received = await sendRaw(at.url, both, { quietMs: 1_500 })
    expect(received.match(/data: \[DONE\]/g)).toHaveLength(2)
  })

  test('at the very end does not bring the gateway down', { timeout: 60_000 }, async () => {
    for (const stream of [true, false]) {
      // Small enough to be out of the upstream at once, too large for the client's socket.
      const socket = await unread(at, { chunks: 1, tokensPerChunk: 1_500_000 }, stream)
      await sleep(2_500)
      expect((await fetch(`${at.url}/health`)).status).toBe(200)
      let size = 0
      for await (const bytes of socket) size += bytes.length
      expect(size).toBeGreaterThan(8_000_000)
    }
    await settled(at)
    await expect.poll(() => at.gateway.inFlight.count).toBe(0)
  })
})

describe('the stop of the gateway', () => {
  test('lets streams end that do so in time, tells the others, and settles all', {
    timeout: 60_000,
  }, async () => {
    const stopping = await startTestGateway({ env: { DRAIN_TIMEOUT: '2s' } })
    const { ledger } = stopping.gateway.books
    const before = stopping.balance()
    const ask = async (wanted: ScriptInput, more: Record<string, unknown> = {}) => {
      const response = await stopping.chat(asking(wanted, more))
      return { status: response.status, text: await response.text() }
    }
    const quick = ask({ id: 'quick', chunks: 10, gapMs: 60, promptTokens: 10 })
    const slow = ask({ id: 'slow', chunks: 1_000, gapMs: 50 })
    const silent = ask({ id: 'silent', hangBeforeHead: true })
    const whole = ask({ id: 'whole', hangBeforeHead: true }, { stream: false })
    await expect.poll(() => stopping.upstream.requests.length).toBe(4)
    const startedMs = Date.now()
    const stopped = stopping.close()
    await expect.poll(() => stopping.gateway.inFlight.draining).toBe(true)
    const ready = await fetch(`${stopping.url}/ready`)
    expect(ready.status).toBe(503)

    expect((await quick).text).toContain('[DONE]')
    const cut = await slow
    expect(cut.text).not.toContain('[DONE]')
    expect(chunksOf(cut.text).at(-1)).toMatchObject({
      error: { code: 'draining' },
      choices: [{ finish_reason: 'error' }],
    })
    for (const { status, text } of [await silent, await whole]) {
      expect(status).toBe(503)
      expect(JSON.parse(text).error.code).toBe('draining')
    }
    await stopped
    expect(Date.now() - startedMs).toBeLessThan(6_000)
    expect(ledger.stats).toMatchObject({ openHolds: 0, heldNanoUsd: 0n, queued: 0 })
    const charged = before - stopping.balance()
    expect(charged).toBeGreaterThan(priceOf(10, 10 + 20))
    expect(charged).toBeLessThan(priceOf(10 + 200, 10 + 60))
  })
})
