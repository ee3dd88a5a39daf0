/** What no client library sends: malformed, ambiguous and hostile HTTP on a bare socket. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { errorCatalogue } from '../../src/errors.ts'
import { startTestGateway, type TestGateway } from '../harness.ts'
import { head, openSocket, parseReply, sendRaw } from '../raw-socket.ts'

let at: TestGateway
beforeAll(async () => {
  at = await startTestGateway({ env: { REQUEST_TIMEOUT: '1s' } })
})
afterAll(() => at.close())

afterEach(async () => {
  expect((await fetch(`${at.url}/health`)).status).toBe(200)
  await expect.poll(() => at.gateway.inFlight.count).toBe(0)
  expect(at.gateway.books.ledger.stats.openHolds).toBe(0)
})

const body = JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] })
const post = 'POST /v1/chat/completions HTTP/1.1'
const host = ['host', 'localhost'] as const
const json = ['content-type', 'application/json'] as const
const length = ['content-length', String(body.length)] as const
const chunked = ['transfer-encoding', 'chunked'] as const
const inChunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const bearer = () => ['authorization', `Bearer ${at.key}`] as const

type Header = readonly [name: string, value: string]
/** A good request, with these headers in place of those that say where its body ends. */
const framed = (framing: readonly Header[], sent = body) => [
  head(post, [host, bearer(), json, ...framing]),
  sent,
]
const get = (path: string, line = `GET ${path} HTTP/1.1`) => [head(line, [host])]

/** Bytes that must be refused in the catalogue's shape, with status 400 unless another is named. */
const refused: [name: string, parts: () => (string | Buffer)[], status?: number][] = [
  ['two Hosts', () => [head('GET /health HTTP/1.1', [host, ['Host', 'other']])]],
  ['no Host', () => [head('GET /health HTTP/1.1', [])]],
  ['a Content-Length that is no number', () => framed([['content-length', 'abc']])],
  ['a negative Content-Length', () => framed([['content-length', '-1']])],
  ['a Content-Length with a sign', () => framed([['content-length', `+${body.length}`]])],
  ['a Content-Length in hex', () => framed([['content-length', '0x10']])],
  ['a Content-Length beyond 64 bits', () => framed([['content-length', '99999999999999999999']])],
  ['a list of Content-Lengths', () => framed([['content-length', '5, 5']])],
  ['two Content-Lengths', () => framed([length, ['content-length', '4']])],
  ['Content-Length and chunks', () => framed([length, chunked], inChunks)],
  ['chunks and Content-Length', () => framed([chunked, length], inChunks)],
  ['an unknown coding behind chunks', () => framed([['transfer-encoding', 'chunked, gzip']])],
  ['a coding that only looks like chunks', () => framed([['transfer-encoding', 'xchunked']])],
  ['a chunk size that is none', () => framed([chunked], `zz\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk size beyond 64 bits', () => framed([chunked], `${'f'.repeat(17)}\r\n${body}`)],
  ['a chunk longer than it says', () => framed([chunked], `3\r\n${body}\r\n0\r\n\r\n`)],
  ['endless chunk extensions', () => framed([chunked], `1;${'x'.repeat(20_000)}\r\n`), 413],
  ['a NUL in a header', () => [head('GET /health HTTP/1.1', [host, ['x-a', 'a\0b']])]],
  ['a bare CR in a header', () => [head('GET /health HTTP/1.1', [host, ['x-a', 'a\rx-b: c']])]],
  ['a blank before the colon', () => [head('GET /health HTTP/1.1', [host, ['x-a ', 'b']])]],
  ['a folded header', () => [head('GET /health HTTP/1.1', [host, ['x-a', 'b\r\n c']])]],
  ['a header without a colon', () => ['GET /health HTTP/1.1\r\nhost: a\r\nnonsense\r\n\r\n']],
  ['a NUL in the path', () => get('/hea\0lth')],
  ['a blank in the path', () => get('/hea lth')],
  ['a broken escape in the path', () => get('/v1/%zz')],
  ['a method in small letters', () => get('', 'get /health HTTP/1.1')],
  ['a method nobody knows', () => get('', 'HACK /health HTTP/1.1')],
  ['another version', () => get('', 'GET /health HTTP/9.9')],
  ['the preface of HTTP/2', () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
  ['a TLS hello', () => [Buffer.from('160301020001000001fc0303', 'hex')]],
  ['an expectation nobody meets', () => framed([length, ['expect', 'a-miracle']])],
  ['an escaped NUL in the path', () => get('/%00'), 404],
  ['a path of dots', () => get('/../../etc/passwd'), 404],
  ['an address of another host', () => get('http://169.254.169.254/latest/meta-data'), 404],
  ['a method of WebDAV', () => get('', 'PROPFIND /v1/chat/completions HTTP/1.1'), 405],
  ['TRACE', () => get('', 'TRACE /v1/chat/completions HTTP/1.1'), 405],
  ['DELETE', () => get('', 'DELETE /v1/chat/completions HTTP/1.1'), 405],
  ['OPTIONS without CORS', () => get('', 'OPTIONS /v1/chat/completions HTTP/1.1'), 405],
]

test.each(refused)(
  '%s is refused in the shape of the catalogue',
  async (_name, parts, wanted = 400) => {
    const { status, headers, text } = parseReply(await sendRaw(at.url, parts()))
    const { error } = JSON.parse(text)
    const code: keyof typeof errorCatalogue = error.code
    expect(status).toBe(wanted)
    expect(errorCatalogue[code]).toMatchObject({ status, type: error.type })
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(headers['cache-control']).toBe('private, no-store')
  },
)

/** Unusual, and right. */
const taken: [name: string, parts: () => string[]][] = [
  ['chunks', () => framed([chunked], inChunks)],
  [
    'HTTP/1.0 without a Host',
    () => [head('POST /chat/completions HTTP/1.0', [bearer(), json, length]), body],
  ],
  [
    'an absolute address of our own',
    () => [
      head('POST http://localhost/v1/chat/completions HTTP/1.1', [host, bearer(), json, length]),
      body,
    ],
  ],
  ['an offer to upgrade', () => framed([length, ['connection', 'Upgrade'], ['upgrade', 'h2c']])],
  [
    'a query and a final slash',
    () => [head('POST /v1/chat/completions/?a=b HTTP/1.1', [host, bearer(), json, length]), body],
  ],
]

test.each(taken)('%s: taken', async (_name, parts) => {
  expect(parseReply(await sendRaw(at.url, parts()))).toMatchObject({ status: 200 })
})

test('a client that waits for 100 Continue gets it, then its answer', async () => {
  const received = await sendRaw(at.url, framed([length, ['expect', '100-continue']]))
  expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
})

test('pipelined requests are answered in order', async () => {
  const [first = '', sent = ''] = framed([length])
  const bad = head('GET /nothing HTTP/1.1', [host])
  const received = await sendRaw(at.url, [first + sent + bad + first + sent])
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual([
    'HTTP/1.1 200',
    'HTTP/1.1 404',
    'HTTP/1.1 200',
  ])
})

test('what follows a good request is not taken for a part of it', async () => {
  const smuggled = `${body}GET /admin HTTP/1.1\r\nhost: localhost\r\n\r\n`
  const received = await sendRaw(at.url, framed([length], smuggled))
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404'])
})

test('garbage behind a request that streams does no harm to others', async () => {
  const streamed = JSON.stringify({ ...JSON.parse(body), stream: true })
  const parts = framed(
    [['content-length', String(streamed.length)]],
    `${streamed}\0\0garbage\r\n\r\n`,
  )
  expect(await sendRaw(at.url, parts)).toMatch(/^HTTP\/1\.1 (200|400) /)
})

test('a client that closes its half at once does no harm', async () => {
  await sendRaw(at.url, framed([length]), { halfClose: true })
})

test('a client that resets in the middle of its body does no harm', async () => {
  for (let round = 0; round < 20; round++) {
    const socket = await openSocket(at.url)
    socket.write(framed([['content-length', '5000']]).join(''))
    await new Promise(resolve => setTimeout(resolve, round))
    socket.resetAndDestroy()
  }
})

test('a connection that never says a word is closed', async () => {
  const socket = await openSocket(at.url)
  const closed = new Promise(resolve => socket.once('close', resolve))
  socket.resume()
  expect(
    await Promise.race([closed, new Promise(resolve => setTimeout(resolve, 8_000, 'open'))]),
  ).not.toBe('open')
})

test('a head that drips is cut at the time limit', async () => {
  const socket = await openSocket(at.url)
  let received = ''
  socket.on('data', bytes => {
    received += bytes.toString()
  })
  const closed = new Promise(resolve => socket.once('close', resolve))
  socket.on('error', () => {})
  socket.write(`${post}\r\nhost: localhost\r\n`)
  const drip = setInterval(() => socket.write('x-drip: 1\r\n'), 100)
  await closed
  clearInterval(drip)
  expect(parseReply(received).status).toBe(408)
})

test('a client that sends more than the limit reads why, though it is still sending', async () => {
  const large = 'x'.repeat(32 * 1024 * 1024)
  for (const stream of [false, true]) {
    const response = await at.chat({ stream, messages: [{ role: 'user', content: large }] })
    expect(response.status).toBe(413)
  }
})
