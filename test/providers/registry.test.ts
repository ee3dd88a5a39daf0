import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settingPrefix } from '../../src/config.ts'
import { splitBaseUrl } from '../../src/providers/configured-provider.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/registry.ts'

const folder = join(import.meta.dirname, '../../src/providers')
const notProviders = ['provider.ts', 'configured-provider.ts', 'operator-file.ts', 'registry.ts']
const files = readdirSync(folder).filter(file => !notProviders.includes(file))

test('every provider file is registered, under the name of its file', () => {
  const registered = providers.map(({ id }) => `${id}.ts`)
  expect(registered.sort()).toEqual(files.sort())
})

test('no two providers are the same', () => {
  for (const field of ['id', 'name', 'baseUrl'] as const) {
    const values = providers.map(provider => provider[field])
    expect(new Set(values).size, field).toBe(values.length)
  }
  expect(new Set(providers.map(({ id }) => settingPrefix(id))).size).toBe(providers.length)
})

test('no provider takes a name that is a setting of the gateway', () => {
  expect(providers.map(({ id }) => settingPrefix(id))).not.toContain('UPSTREAM_')
})

describe.each(providers.map(provider => [provider.id, provider] as const))('%s', (id, provider) => {
  test('has an id that stands in a model id and in a setting', () => {
    expect(id).toMatch(/^[a-z][a-z0-9-]*$/)
    expect(provider.name.trim()).not.toBe('')
  })

  test('is reached over https, unless it runs on the operator’s own machine', () => {
    const { origin, basePath } = splitBaseUrl(provider.baseUrl)
    expect(origin + basePath).toBe(provider.baseUrl)
    const own = provider.apiKeyEnv === null
    expect(origin).toMatch(own ? /^http:\/\/(127\.0\.0\.1:\d+|demo\.invalid)$/ : /^https:\/\//)
  })

  test('names its credential after itself and sends nothing else', () => {
    if (provider.apiKeyEnv !== null) {
      expect(provider.apiKeyEnv).toBe(`${settingPrefix(id)}API_KEY`)
      expect(Object.values(provider.authorize('sk-1')).join()).toContain('sk-1')
    }
    expect(provider.authorize('')).toEqual({})
  })

  test('renders and reads by its dialect', () => {
    const { dialect } = provider
    const rendered = dialect.renderRequest(
      { model: `${id}/m`, messages: [{ role: 'user', content: 'hi' }], max_tokens: 7 },
      { upstreamModel: 'm', maxOutputTokens: null },
    )
    expect(rendered.path).toMatch(/^\//)
    expect(`${rendered.path} ${rendered.body}`).toMatch(/"model":"m"|\/models?\/m[:/]/)
    expect(dialect.parseError(500, {}, 'x').status).toBeGreaterThanOrEqual(500)
  })
})

test('what is not free to place is never available by itself', () => {
  const unplaced = providers.filter((provider: Provider) => provider.needsBaseUrl)
  expect(unplaced.map(({ id }) => id)).toEqual([
    'azure',
    'vertex',
    'cloudflare',
    'ollama',
    'vllm',
    'lmstudio',
    'llamacpp',
  ])
})
