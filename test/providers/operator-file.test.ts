import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  OperatorFileError,
  parseOperatorFile,
  readOperatorFile,
} from '../../src/providers/operator-file.ts'
import { providers } from '../../src/providers/registry.ts'

const price = { input: '0.10', output: '0.20' }
const models = [{ id: 'llama-3', price }]
const acme = { id: 'acme', base_url: 'http://10.0.0.5:8000/v1', models }

const parse = (...entries: unknown[]) =>
  parseOperatorFile(JSON.stringify({ providers: entries }), providers, { ACME_SECRET: 'sk-env' })

const messageOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof OperatorFileError) return error.message
    throw error
  }
  return 'accepted'
}

describe('a good file', () => {
  test('adds a provider with its models', () => {
    const file = parse({ ...acme, name: 'Acme', api_key: 'sk-1' })
    expect(file.providers).toHaveLength(1)
    expect(file.providers[0]).toMatchObject({ id: 'acme', name: 'Acme', baseUrl: acme.base_url })
    expect(file.providers[0]?.authorize('sk-1')).toEqual({ authorization: 'Bearer sk-1' })
    expect(file.reached.get('acme')).toEqual({ baseUrl: acme.base_url, apiKeys: ['sk-1'] })
    expect(file.models.get('acme')).toMatchObject([
      { name: 'llama-3', title: 'llama-3', upstreamModel: 'llama-3', reasons: false, price },
    ])
  })

  test('takes the credential from the environment', () => {
    const file = parse({ ...acme, api_key_env: 'ACME_SECRET' })
    expect(file.reached.get('acme')?.apiKeys).toEqual(['sk-env'])
    expect(file.providers[0]?.apiKeyEnv).toBe('ACME_SECRET')
  })

  test('reads every field of a model', () => {
    const full = {
      id: 'org/m:free',
      name: 'M',
      upstream_model: 'm-7b',
      context_window: 8192,
      max_output_tokens: 1024,
      reasons: true,
      description: 'd',
      price: {
        input: '0',
        output: '1.123456789',
        cache_read: '0.01',
        cache_write: '0.02',
        cache_write_1h: '0.03',
        input_audio: '4',
        cache_read_audio: '5',
        output_audio: '6',
        fees: { request: '0.005', web_search: '0.01' },
      },
    }
    expect(parse({ ...acme, models: [full] }).models.get('acme')).toEqual([
      {
        name: 'org/m:free',
        title: 'M',
        upstreamModel: 'm-7b',
        contextWindow: 8192,
        maxOutputTokens: 1024,
        reasons: true,
        description: 'd',
        price: {
          input: '0',
          output: '1.123456789',
          cacheRead: '0.01',
          cacheWrite: '0.02',
          cacheWrite1h: '0.03',
          inputAudio: '4',
          cacheReadAudio: '5',
          outputAudio: '6',
          fees: { request: '0.005', webSearch: '0.01' },
        },
      },
    ])
  })

  test('adds models to a provider of the gateway, which stays what it is', () => {
    const file = parse({ id: 'openai', models }, { id: 'vllm', base_url: 'http://gpu/v1', models })
    expect(file.providers).toEqual([])
    expect([...file.models.keys()]).toEqual(['openai', 'vllm'])
    expect([...file.reached.keys()]).toEqual(['vllm'])
  })

  test('has a version of its content, and no other', () => {
    expect(parse(acme).version).toMatch(/^file:[0-9a-f]{12}$/)
    expect(parse(acme).version).toBe(parse(acme).version)
    expect(parse(acme).version).not.toBe(parse({ ...acme, name: 'x' }).version)
  })
})

describe('a bad file is refused with the path of what is wrong', () => {
  test.each([
    [{ ...acme, id: 'Acme!' }, 'providers[0].id: must be lower-case letters'],
    [{ ...acme, base_url: 'ftp://x' }, 'providers[0].base_url: must be an http(s) URL'],
    [{ id: 'acme', models }, 'providers[0].base_url: is missing'],
    [{ ...acme, models: [] }, 'providers[0].models: '],
    [{ ...acme, modles: [] }, 'modles'],
    [{ ...acme, models: [{ id: 'x' }] }, 'providers[0].models[0].price: '],
    [
      { ...acme, models: [{ id: 'x', price: { ...price, input: 0.1 } }] },
      'providers[0].models[0].price.input: must be a decimal string of USD',
    ],
    [
      { ...acme, models: [{ id: 'x', price: { ...price, output: '-1' } }] },
      'providers[0].models[0].price.output: must be a decimal string of USD',
    ],
    [
      { ...acme, models: [{ id: 'x', price: { input: '1e-3', output: '1.1234567891' } }] },
      'providers[0].models[0].price.output: must be a decimal string of USD with up to 9 decimals',
    ],
    [{ ...acme, models: [{ id: 'x', price: { input: '1' } }] }, 'models[0].price.output: '],
    [{ ...acme, models: [{ id: 'a b', price }] }, 'providers[0].models[0].id: must be 1 to 256'],
    [{ ...acme, models: [...models, ...models] }, 'models[1].id: "llama-3" stands there twice'],
    [{ ...acme, models: [{ id: 'x', price, context_window: 0 }] }, 'models[0].context_window: '],
    [{ ...acme, api_key_env: 'NOT_SET' }, 'api_key_env: NOT_SET is not set in the environment'],
    [{ id: 'openai', base_url: 'http://x', models }, 'is a provider of the gateway'],
    [{ id: 'openai', api_key: 'canary', models }, 'is a provider of the gateway'],
  ])('%j', (entry, message) => {
    expect(messageOf(() => parse(entry))).toContain(message)
  })

  test('where a provider stands twice', () => {
    expect(messageOf(() => parse(acme, acme))).toContain(
      'providers[1].id: "acme" stands there twice',
    )
  })

  test.each(['', '{', '[]', 'null', '{"providers": {}}'])('%j', text => {
    expect(messageOf(() => parseOperatorFile(text, providers, {}))).toMatch(/not usable/)
  })
})

test.each([
  JSON.stringify({ providers: [{ ...acme, api_key: 'canary with blank' }] }),
  JSON.stringify({ providers: [{ ...acme, api_key: 'canary', api_key_env: 'ACME_SECRET' }] }),
  JSON.stringify({ providers: [{ ...acme, base_url: 'https://user:canary@x' }] }),
  '{"providers": [{"api_key": "canary" oops',
])('a credential in the file is never repeated: %s', text => {
  const message = messageOf(() => parseOperatorFile(text, providers, {}))
  expect(message).toContain('not usable')
  expect(message).not.toContain('canary')
})

describe('on disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-providers-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('the file is read', () => {
    const path = join(folder, 'providers.json')
    writeFileSync(path, JSON.stringify({ providers: [acme] }))
    expect(readOperatorFile(path, providers, {}).providers[0]?.id).toBe('acme')
  })

  test('one that is missing says so', () => {
    const path = join(folder, 'none.json')
    expect(messageOf(() => readOperatorFile(path, providers, {}))).toContain(
      `${path} can't be read (ENOENT)`,
    )
  })
})
