import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AccessTokens } from '../../src/egress/access-tokens.ts'
import { Upstreams } from '../../src/egress/upstreams.ts'
import { GatewayError } from '../../src/errors.ts'

type Answer = { status: number; body: string; delayMs?: number }

let answer: Answer = { status: 200, body: '' }
let asked: string[] = []
let server: Server
let url = ''
let nowMs = 0
const upstreams = new Upstreams({ connections: 8 })

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      asked.push(body)
      const { status, body: told, delayMs = 0 } = answer
      setTimeout(
        () => response.writeHead(status).end(told.replace('#', String(asked.length))),
        delayMs,
      )
    })
  })
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve)
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?x=1`
})

afterAll(async () => {
  await upstreams.close()
  server.closeAllConnections()
  server.close()
})

const exchange = {
  request: (credential: string) => {
    if (credential === 'plain') return null
    if (credential === 'broken') throw new Error('secret-canary')
    return {
      url: credential === 'nowhere' ? 'http://127.0.0.1:1/' : url,
      headers: { 'x-a': 'b' },
      body: credential,
    }
  },
  parse: (body: string) => {
    const { token, life } = JSON.parse(body)
    if (!token) throw new Error('no')
    return { token, expiresInS: life }
  },
}

let tokens: AccessTokens
beforeEach(() => {
  answer = { status: 200, body: '{"token":"token-#","life":3600}', delayMs: 5 }
  asked = []
  nowMs = 1_000_000
  tokens = new AccessTokens(upstreams, () => nowMs)
})
const get = (credential = 'key') => tokens.get(exchange, credential)

const failure = async (credential = 'key'): Promise<GatewayError> => {
  try {
    await get(credential)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  return expect.fail('a token came')
}

describe('a token', () => {
  test('is asked for once, however many wait, and then is at hand', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => get()))
    expect(new Set(all)).toEqual(new Set(['token-1']))
    expect(asked).toEqual(['key'])
    expect(get()).toBe('token-1')
  })

  test('of another credential is another one', async () => {
    await get()
    expect(await get('other')).toBe('token-2')
    expect(get()).toBe('token-1')
  })

  test('is renewed before its end while the old one serves', async () => {
    await get()
    nowMs += (3_600 - 60 - 200) * 1_000
    expect([get(), get(), get()]).toEqual(['token-1', 'token-1', 'token-1'])
    await expect.poll(() => get()).toBe('token-2')
    expect(asked).toHaveLength(2)
  })

  test('is never used past its end', async () => {
    await get()
    nowMs += (3_600 - 60) * 1_000
    expect(await get()).toBe('token-2')
  })

  test('serves on where its renewal fails, which is tried again later', async () => {
    await get()
    nowMs += (3_600 - 60 - 200) * 1_000
    answer = { status: 503, body: 'no' }
    expect(get()).toBe('token-1')
    await expect.poll(() => asked.length).toBe(2)
    expect(get()).toBe('token-1')
    nowMs += 11_000
    void get()
    await expect.poll(() => asked.length).toBe(3)
  })

  test('that the provider refused is asked for anew', async () => {
    await get()
    tokens.discard(exchange, 'key')
    expect(await get()).toBe('token-2')
  })

  test('is not asked for where none is needed', async () => {
    expect(await get('plain')).toBe('plain')
    expect(get('plain')).toBe('plain')
    tokens.discard(exchange, 'plain')
    expect(get('plain')).toBe('plain')
    expect(asked).toEqual([])
  })

  test('with a life of nothing is not kept', async () => {
    answer = { status: 200, body: '{"token":"token-#","life":0}' }
    expect(await get()).toBe('token-1')
    expect(await get()).toBe('token-2')
  })
})

describe('a failure', () => {
  test.each([
    [
      400,
      '{"error":"invalid_grant","error_description":"secret-canary"}',
      'provider_rejected_credentials',
    ],
    [401, '{"error":"invalid_client"}', 'provider_rejected_credentials'],
    [403, 'x', 'provider_rejected_credentials'],
    [429, 'x', 'provider_unavailable'],
    [500, 'x', 'provider_unavailable'],
    [302, 'x', 'provider_unavailable'],
    [200, 'no json secret-canary', 'provider_unavailable'],
    [200, `"${'x'.repeat(100_000)}"`, 'provider_unavailable'],
  ])('%i %.30s is %s, and quotes nothing', async (status, body, code) => {
    answer = { status, body }
    const error = await failure()
    expect(error.code).toBe(code)
    expect(`${error.message} ${error.internal} ${error.cause}`).not.toContain('canary')
  })

  test('of an address where nobody is', async () => {
    expect((await failure('nowhere')).code).toBe('provider_unavailable')
  })

  test('of a credential that can not be read', async () => {
    const error = await failure('broken')
    expect(error.code).toBe('provider_rejected_credentials')
    expect(`${error.message} ${error.internal} ${error.cause}`).not.toContain('canary')
  })

  test('is over with the next try', async () => {
    answer = { status: 500, body: 'x' }
    await failure()
    answer = { status: 200, body: '{"token":"token-#","life":3600}' }
    expect(await get()).toBe('token-2')
  })
})
