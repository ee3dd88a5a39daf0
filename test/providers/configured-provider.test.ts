import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { configureProviders, splitBaseUrl } from '../../src/providers/configured-provider.ts'
import { providers } from '../../src/providers/registry.ts'

const configured = (
  env: Record<string, string>,
  file?: Parameters<typeof configureProviders>[3],
) => {
  const config = loadConfig(
    env,
    providers.map(({ id }) => id),
  )
  return configureProviders(providers, config.providers, config.upstreamTimeouts, file)
}
const available = (env: Record<string, string>): string[] =>
  [...configured(env).values()].filter(one => one.available).map(({ provider }) => provider.id)

test('only the demo is available without a setting', () => {
  expect(available({})).toEqual(['demo'])
})

test('a credential makes a provider available, but not one that has no address yet', () => {
  expect(available({ OPENAI_API_KEY: 'a,b', CLOUDFLARE_API_KEY: 'c' })).toEqual(['openai', 'demo'])
  expect(configured({ OPENAI_API_KEY: 'a,b' }).get('openai')?.apiKeys).toEqual(['a', 'b'])
})

test('a server of one’s own is available by its address alone', () => {
  expect(available({ VLLM_BASE_URL: 'http://gpu:8000' })).toEqual(['vllm', 'demo'])
})

test('a base URL is split into origin and path', () => {
  expect(configured({ OPENAI_BASE_URL: 'http://127.0.0.1:9/a/b/' }).get('openai')).toMatchObject({
    origin: 'http://127.0.0.1:9',
    basePath: '/a/b',
  })
  expect(configured({ VLLM_BASE_URL: 'http://gpu:8000' }).get('vllm')).toMatchObject({
    origin: 'http://gpu:8000',
    basePath: '',
  })
  expect(configured({}).get('mistral')).toMatchObject({
    origin: 'https://api.mistral.ai',
    basePath: '/v1',
    query: '',
  })
  const url = 'https://x.services.ai.azure.com/models/?api-version=2024-05-01-preview'
  expect(configured({ OPENAI_BASE_URL: url }).get('openai')).toMatchObject({
    basePath: '/models',
    query: '?api-version=2024-05-01-preview',
  })
})

describe('the operator’s file', () => {
  const file = {
    models: new Map([
      ['ollama', []],
      ['vllm', []],
    ]),
    reached: new Map([['vllm', { baseUrl: 'http://gpu:1/v1', apiKeys: ['from-file'] }]]),
  }

  test('places a provider, with its credential', () => {
    expect(configured({}, file).get('vllm')).toMatchObject({
      origin: 'http://gpu:1',
      apiKeys: ['from-file'],
      available: true,
    })
  })

  test('has a server of one’s own where it usually is', () => {
    expect(configured({}, file).get('ollama')).toMatchObject({
      origin: 'http://127.0.0.1:11434',
      available: true,
    })
  })

  test('comes after the environment', () => {
    const env = { VLLM_BASE_URL: 'http://gpu:2/v1', VLLM_API_KEY: 'from-env' }
    expect(configured(env, file).get('vllm')).toMatchObject({
      origin: 'http://gpu:2',
      apiKeys: ['from-env'],
    })
  })
})

test.each([
  'ftp://x',
  'file:///etc/passwd',
  'https://user@x',
  'https://user:canary@x/v1',
  'https://x/?q=1',
  'https://x/?api-version=1&q=1',
  'https://x/?api-version=%0a',
  'https://x/#f',
  'x',
  '',
])('refuses %s as a base URL without repeating it', url => {
  expect(() => splitBaseUrl(url)).toThrow(
    /^not an http\(s\) URL without user name, password, query and fragment$/,
  )
})
