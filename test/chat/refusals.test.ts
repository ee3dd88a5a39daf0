/** The catalogue of refusals as a table: at least one row for each code, provoked over a real socket. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ErrorCode, errorCatalogue } from '../../src/errors.ts'
import { startTestGateway, type TestGateway, testModel } from '../harness.ts'
import type { RawReply } from '../raw-socket.ts'
import { clientRows } from './refusals/client-rows.ts'
import { gatewayRows } from './refusals/gateway-rows.ts'
import { providerRows } from './refusals/provider-rows.ts'
import { asking, gateways, rawChat } from './refusals/row.ts'

/** Codes that nothing in `src/` raises yet, and with what they come. */
const notYet: Partial<Record<ErrorCode, string>> = {
  key_limit_reached: 'keys have no limit of their own before the console',
  model_not_allowed: 'keys have no list of models before the console',
  address_not_allowed: 'keys have no list of addresses before the console',
  rate_limit_exceeded: 'keys have no rates before the console',
}

const rows = [...clientRows, ...providerRows]

const started = new Map<string, Promise<TestGateway>>()
const gatewayFor = (name: keyof typeof gateways): Promise<TestGateway> => {
  const known = started.get(name)
  if (known) return known
  const starting = startTestGateway({ env: gateways[name], credit: '1' })
  started.set(name, starting)
  return starting
}
afterAll(async () => {
  for (const starting of started.values()) await (await starting).close()
}, 60_000)

type Expected = {
  code: ErrorCode
  param?: string
  message?: RegExp
  headers?: Record<string, string>
  metadata?: Record<string, unknown>
}

const expectRefusal = ({ status, headers, text }: RawReply, expected: Expected): void => {
  const { error } = JSON.parse(text)
  const { status: wanted, type } = errorCatalogue[expected.code]
  expect(error).toMatchObject({ code: expected.code, type, param: expected.param ?? null })
  expect(status).toBe(wanted)
  expect(error.message).toMatch(expected.message ?? /^\S.*[^ ]$/s)
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'private, no-store',
    ...expected.headers,
  })
  if (expected.metadata) expect(error.metadata).toMatchObject(expected.metadata)
  if (expected.code !== 'missing_api_key' && status !== 401)
    expect(headers).not.toHaveProperty('www-authenticate')
}

const expectNothingOwed = async (at: TestGateway, balance: bigint): Promise<void> => {
  const { ledger } = at.gateway.books
  await expect.poll(() => [ledger.stats.openHolds, ledger.stats.heldNanoUsd]).toEqual([0, 0n])
  await expect.poll(() => at.gateway.inFlight.count).toBe(0)
  expect(at.balance()).toBe(balance)
}

describe('is refused, free of charge', () => {
  test.each(rows)('$code: $name', async ({ provoke, gateway = 'plain', upstream = 0, ...row }) => {
    const at = await gatewayFor(gateway)
    const [before, sent] = [at.balance(), at.upstream.requests.length]
    expectRefusal(await provoke(at), row)
    await expectNothingOwed(at, before)
    expect(at.upstream.requests.length - sent).toBe(upstream)
  })

  test.each(gatewayRows)(
    '$code: $name',
    { timeout: 60_000 },
    async ({ provoke, start, ...row }) => {
      const at = await (start ?? startTestGateway)()
      try {
        const before = at.balance()
        expectRefusal(await provoke(at), row)
        await expectNothingOwed(at, before)
      } finally {
        await at.close()
      }
    },
  )
})

describe('the table is whole', () => {
  const covered = new Set([...rows, ...gatewayRows].map(({ code }) => code))

  test('every code has a row, or a reason why it can not occur yet', () => {
    // `as`: the keys of the catalogue are its codes.
    const codes = Object.keys(errorCatalogue) as ErrorCode[]
    expect(codes.filter(code => !covered.has(code) && !(code in notYet))).toEqual([])
  })

  test('what can not occur yet is raised nowhere', () => {
    const src = join(import.meta.dirname, '../../src')
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts') && path !== 'errors.ts')
      .map(path => readFileSync(join(src, path), 'utf8'))
    const raised = Object.keys(notYet).filter(code =>
      files.some(text => new RegExp(`(?:GatewayError|refuse)\\(\\s*'${code}'`).test(text)),
    )
    expect(raised, 'give these codes a row').toEqual([])
  })
})

describe('is taken', () => {
  test.each([
    ['blanks behind the key', 'Bearer KEY \t '],
    ['a scheme in capitals', 'BEARER KEY'],
    ['a scheme in small letters', 'bearer KEY'],
  ])('%s', async (_name, authorization) => {
    const at = await gatewayFor('plain')
    expect(await rawChat({ authorization })(at)).toMatchObject({ status: 200 })
  })
})

describe('a stream that breaks after its first byte ends in an error chunk without [DONE], and what came is paid', () => {
  const breaks: [name: string, script: Parameters<typeof asking>[0], code: ErrorCode][] = [
    ['the connection is cut', { dieAfter: 3 }, 'provider_error'],
    ['the body ends early', { endAfter: 3 }, 'provider_invalid_response'],
    ['the provider sends an error', { errorAfter: 3 }, 'provider_error'],
    ['the provider sends garbage', { garbage: true, garbageAfter: 3 }, 'provider_invalid_response'],
    ['the provider falls silent', { hangAfter: 3 }, 'provider_timeout'],
    [
      'the provider forgets its [DONE]',
      { chunks: 3, noDone: true, noUsage: true },
      'provider_invalid_response',
    ],
  ]
  test.each(breaks)('%s', async (_name, wanted, code) => {
    const at = await gatewayFor('impatient')
    const before = at.balance()
    const response = await at.chat({ messages: asking({ gapMs: 5, ...wanted }), stream: true })
    const text = await response.text()
    const last = JSON.parse(text.trimEnd().split('\n').at(-1)?.slice('data: '.length) ?? '')
    expect(response.status).toBe(200)
    expect(text).not.toContain('[DONE]')
    expect(last).toMatchObject({
      object: 'chat.completion.chunk',
      error: { code, type: errorCatalogue[code].type, param: null },
      choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
    })
    await expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
    const charged = before - at.balance()
    expect(charged % testModel.inputNanoUsd).toBe(0n)
    expect(charged).toBeGreaterThan(3n * testModel.outputNanoUsd)
    expect(charged).toBeLessThan(4n * testModel.outputNanoUsd + 100n * testModel.inputNanoUsd)
  })
})
