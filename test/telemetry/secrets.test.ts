/** Canaries planted on every path, good and failing; then looked for in whatever the gateway leaves behind. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mintKey } from '../../src/accounts/api-key.ts'
import { createLog, flushLog } from '../../src/telemetry/log.ts'
import { startTestGateway, type TestGateway } from '../harness.ts'
import { type ScriptInput, script } from '../upstream/scripted-upstream.ts'

/** No shape of a known vendor's key: only who holds the credential can know it for one. */
const credential = 'CanaryProviderCredential'
const metricsToken = 'CanaryOperatorsMetricsToken'
const prompt = 'CanaryPromptOfTheClient'
const answer = 'CanaryAnswerOfTheModel'
const strangersKey = mintKey(size => new Uint8Array(size).fill(7))
const wrongKey = 'CanaryAuthorizationOfAStranger'

let at: TestGateway
let folder: string
let logFile: string
const log = { flush: async () => {} }
/** Status and body of every answer that told of a failure. */
const failures: { name: string; text: string }[] = []

const ask = async (name: string, body: Record<string, unknown>, init?: RequestInit) => {
  const response = await at.chat(body, init)
  const text = await response.text()
  if (response.status !== 200 || text.includes('"error"')) failures.push({ name, text })
  return text
}
const asking = (wanted: ScriptInput) => [
  { role: 'system', content: prompt },
  { role: 'user', content: script(wanted) },
]

const echo = `${credential}, sent as Bearer ${credential}, for the prompt "${prompt}"`
const echoes = [
  { error: { message: `Failed with ${echo}`, type: 'x', code: 'x' } },
  { error: `Failed with ${echo}`, code: 'Some words' },
  { message: `Failed with ${echo}` },
  { error: { message: `Failed with ${echo}`, type: 'invalid_request_error', param: credential } },
  { detail: [{ loc: ['body', credential], msg: `${echo} is wrong` }] },
]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-secrets-'))
  logFile = join(folder, 'log.jsonl')
  const written = createLog('trace', logFile)
  log.flush = () => flushLog(written)
  at = await startTestGateway({
    folder,
    log: written,
    env: {
      OPENAI_API_KEY: credential,
      METRICS_TOKEN: metricsToken,
      UPSTREAM_FIRST_BYTE_TIMEOUT: '400ms',
      UPSTREAM_WHOLE_TIMEOUT: '400ms',
      UPSTREAM_IDLE_TIMEOUT: '400ms',
    },
  })
  await happyPaths()
  await clientFailures()
  await upstreamFailures()
  await log.flush()
}, 60_000)
afterAll(async () => {
  await at.close()
  await rm(folder, { recursive: true, force: true })
})

const happyPaths = async () => {
  for (const stream of [false, true]) {
    for (const noUsage of [false, true]) {
      const wanted = { noUsage, toolCall: { name: answer, arguments: `{"text":"${answer}"}` } }
      const text = await ask('a good answer', { messages: asking(wanted), stream, user: prompt })
      expect(text).toContain(answer)
    }
  }
}

const clientFailures = async () => {
  const hello = [{ role: 'user', content: prompt }]
  await ask('broken JSON', {}, { body: `{"messages": "${prompt}` })
  await ask('a wrong field', { messages: hello, temperature: prompt })
  await ask('a wrong role', { messages: [{ role: 'robot', content: prompt }] })
  await ask('no credit', { messages: hello, n: 128, max_tokens: 100_000_000 })
  await ask(
    'nested too deep',
    { messages: hello, metadata: 0 },
    {
      body: `{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"${prompt}"}],"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    },
  )
  for (const authorization of [`Bearer ${wrongKey}`, `Basic ${wrongKey}`, `Bearer ${strangersKey}`])
    await ask('a wrong key', { messages: hello }, { headers: { authorization } })
  for (const path of [
    `/v1/models/${at.key}`,
    `/v1/chat/completions?api_key=${at.key}`,
    `/%zz${at.key}`,
  ])
    await (await fetch(at.url + path, { headers: { cookie: at.key } })).text()

  const leave = new AbortController()
  const left = at.chat(
    { messages: asking({ id: 'left', chunks: 1_000, gapMs: 5 }), stream: true },
    { signal: leave.signal },
  )
  await (await left).body?.getReader().read()
  leave.abort()
}

const upstreamFailures = async () => {
  for (const stream of [false, true]) {
    for (const status of [400, 401, 403, 404, 413, 422, 429, 500, 503]) {
      for (const body of echoes)
        await ask(`status ${status}`, {
          messages: asking({ status, body: JSON.stringify(body) }),
          stream,
        })
    }
    const page = `<html>${echo}</html>`
    const faults: ScriptInput[] = [
      { status: 502, body: page },
      { status: 307, headers: { location: `https://${credential}.example.com/` }, body: page },
      { status: 401, headers: { 'www-authenticate': `Bearer realm="${credential}"` } },
      { body: page },
      { body: JSON.stringify(echoes[0]) },
      { garbage: true },
      { dieBeforeHead: true },
      { dieAfter: 2 },
      { endAfter: 2 },
      { hangBeforeHead: true },
      { hangAfter: 2 },
    ]
    for (const fault of faults)
      await ask(JSON.stringify(fault), { messages: asking(fault), stream })
  }
  for (const event of [...echoes.map(body => JSON.stringify(body)), page()]) {
    at.upstream.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')
      response.end(`event: error\ndata: ${event}\n\n`)
    }
    await ask('an error inside a stream', { messages: asking({}), stream: true })
    at.upstream.answer = ({ response }) => void response.end(event)
    await ask('an error inside an answer', { messages: asking({}) })
  }
  at.upstream.answer = null
}
const page = () => `<html>${echo}</html>`

/** Those of `canaries` that are found in `text`, with what stands around. */
const found = (text: string, canaries: readonly string[]): string[] =>
  canaries.flatMap(canary => {
    const place = text.indexOf(canary)
    return place === -1 ? [] : [text.slice(Math.max(0, place - 120), place + 60)]
  })
const secrets = () => [at.key, credential, metricsToken, strangersKey, wrongKey]
const contents = [prompt, answer]

test('the paths were walked', () => {
  expect(failures.length).toBeGreaterThan(90)
  expect(
    at.upstream.requests.some(({ authorization }) => authorization?.includes(credential)),
  ).toBe(true)
})

test('the log at its most talkative names none', async () => {
  const text = await readFile(logFile, 'utf8')
  expect(text.split('\n').length).toBeGreaterThan(90)
  // What is there to be found is found.
  expect(text).toContain('provider_rejected_credentials')
  expect(text).toContain(at.keyId)
  expect(found(text, [...secrets(), ...contents])).toEqual([])
})

test('no error tells a secret, or what others said', () => {
  const leaks = failures.filter(({ text }) => found(text, secrets()).length > 0)
  expect(leaks).toEqual([])
})

test('only a refusal that the client can act on quotes its provider', () => {
  const quoting = failures.filter(({ text }) => text.includes(prompt))
  for (const { name } of quoting) expect(name).toMatch(/^status (400|413|422)|inside an? /)
})

test('the metrics name none', async () => {
  const response = await fetch(`${at.url}/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}` },
  })
  const text = await response.text()
  expect(text).toContain('tollgate_errors_total')
  expect(found(text, [...secrets(), ...contents])).toEqual([])
})

test('no receipt names any', async () => {
  const rows = await at.gateway.books.db.read<Record<string, unknown>>('SELECT * FROM generations')
  expect(rows.length).toBeGreaterThan(80)
  const text = JSON.stringify(rows, (_key, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(found(text, [...secrets(), ...contents])).toEqual([])
})

test('no byte of the database does, its log included', async () => {
  const files = (await readdir(folder)).filter(name => name.startsWith('tollgate.db'))
  expect(files).toContain('tollgate.db-wal')
  let all = ''
  for (const name of files) {
    const bytes = await readFile(join(folder, name), 'latin1').catch(() => '')
    all += bytes
    expect({ name, found: found(bytes, [...secrets(), ...contents]) }).toEqual({ name, found: [] })
  }
  expect(all).toContain(at.keyId)
})
