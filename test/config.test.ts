import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import dotenv from 'dotenv'
import { describe, expect, test } from 'vitest'
import { ConfigError, loadConfig, settingNames, settingPrefix } from '../src/config.ts'
import { providers } from '../src/providers/registry.ts'

const ids = ['openai', 'two-words']

const messageOf = (env: Record<string, string>): string => {
  try {
    loadConfig(env, ids)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'accepted'
}

describe('the defaults', () => {
  test('are those of operations.md', () => {
    const { providers, ...config } = loadConfig({}, ids)
    expect(config).toEqual({
      nodeEnv: 'development',
      host: '127.0.0.1',
      port: 8080,
      publicUrl: null,
      databasePath: './data/tollgate.db',
      logLevel: 'info',
      trustProxy: false,
      corsOrigins: [],
      keyLimit: 20,
      markupBasisPoints: 0,
      metricsToken: null,
      topUpUrl: null,
      providersFile: null,
      bodyLimitBytes: 10_485_760,
      requestTimeoutMs: 60_000,
      keepAliveIntervalMs: 10_000,
      drainTimeoutMs: 25_000,
      maxConnections: 10_000,
      maxConcurrentRequests: 5000,
      maxConcurrentRequestsPerKey: 1000,
      upstreamTimeouts: {
        connectMs: 5_000,
        firstByteMs: 120_000,
        wholeFirstByteMs: 600_000,
        idleMs: 300_000,
        totalMs: 1_800_000,
      },
    })
    expect(providers.get('openai')).toEqual({
      apiKeys: [],
      baseUrl: null,
      timeouts: config.upstreamTimeouts,
    })
  })

  test('hold for a setting that is empty or blank', () => {
    expect(loadConfig({ PORT: '', HOST: '  ', OPENAI_API_KEY: '' }, ids)).toEqual(
      loadConfig({}, ids),
    )
  })
})

test.each([
  ['PORT', '0', 'port', 0],
  ['PUBLIC_URL', 'https://ai.example.com/', 'publicUrl', 'https://ai.example.com'],
  ['DATABASE_URL', 'file:/var/lib/t.db', 'databasePath', '/var/lib/t.db'],
  ['DATABASE_URL', 'file:///var/lib/t.db', 'databasePath', '/var/lib/t.db'],
  ['TRUST_PROXY', '2', 'trustProxy', 2],
  ['TRUST_PROXY', 'loopback, 10.0.0.0/8,::1', 'trustProxy', ['loopback', '10.0.0.0/8', '::1']],
  ['CORS_ORIGINS', '*', 'corsOrigins', '*'],
  [
    'CORS_ORIGINS',
    'https://a.example, http://b:81',
    'corsOrigins',
    ['https://a.example', 'http://b:81'],
  ],
  ['BODY_LIMIT', '2048', 'bodyLimitBytes', 2048],
  ['BODY_LIMIT', '1MiB', 'bodyLimitBytes', 1_048_576],
  ['DRAIN_TIMEOUT', '1500ms', 'drainTimeoutMs', 1500],
  ['DRAIN_TIMEOUT', '2m', 'drainTimeoutMs', 120_000],
  ['METRICS_TOKEN', '0123456789abcdef', 'metricsToken', '0123456789abcdef'],
])('%s=%s is taken', (name, given, field, value) => {
  expect(loadConfig({ [name]: given }, ids)).toHaveProperty(field, value)
})

test.each([
  [
    'PORT',
    '65536',
    'PORT: "65536" is not allowed; give a port (0 takes any that is free), 0 to 65535',
  ],
  ['PORT', '80a', 'PORT: "80a" is not allowed'],
  ['PORT', '-1', 'PORT: "-1" is not allowed'],
  ['PORT', '8080.0', 'PORT: "8080.0" is not allowed'],
  ['HOST', 'a b', 'HOST: "a b" is not allowed; give an address or a host name'],
  ['NODE_ENV', 'prod', 'give one of development, production, test'],
  ['LOG_LEVEL', 'verbose', 'give one of fatal, error, warn, info, debug, trace, silent'],
  ['PUBLIC_URL', 'ftp://x', 'give an http(s) URL without user name, password, query or fragment'],
  ['TOP_UP_URL', 'javascript:alert(1)', 'give an http(s) URL'],
  ['DATABASE_URL', './data/x.db', 'give file: and a path, such as file:./data/tollgate.db'],
  ['DATABASE_URL', 'file::memory:', 'give file: and a path'],
  ['TRUST_PROXY', 'yes', 'give true, false, the number of proxies (1 to 10), or addresses'],
  ['TRUST_PROXY', '10.0.0.0/33', 'TRUST_PROXY: "10.0.0.0/33" is not allowed'],
  ['CORS_ORIGINS', 'https://a.example/path', 'give *, or origins such as https://app.example.com'],
  ['KEY_LIMIT', '0', 'give a number of keys, 1 to 10000'],
  ['MARKUP_BASIS_POINTS', '2.5', 'give hundredths of a per cent, 0 to 100000'],
  ['BODY_LIMIT', '10MB', 'give a size from 1KiB to 512MiB, in bytes or such as 10MiB'],
  ['BODY_LIMIT', '1', 'give a size from 1KiB'],
  ['DRAIN_TIMEOUT', '25', 'give a duration from 1ms to 24h, such as 500ms, 5s or 30m'],
  ['DRAIN_TIMEOUT', '25h', 'give a duration from 1ms to 24h'],
  ['DRAIN_TIMEOUT', '0s', 'give a duration from 1ms to 24h'],
  ['MAX_CONNECTIONS', '1e3', 'give a number of connections, 1 to 1000000'],
  ['OPENAI_IDLE_TIMEOUT', '3', 'OPENAI_IDLE_TIMEOUT: "3" is not allowed; give a duration'],
  [
    'TWO_WORDS_BASE_URL',
    'host:8000/v1',
    'TWO_WORDS_BASE_URL: the value given (not shown) is not allowed',
  ],
])('%s=%s stops the start with what is allowed', (name, given, message) => {
  expect(messageOf({ [name]: given })).toContain(message)
})

test('tells every wrong setting at once', () => {
  expect(messageOf({ PORT: 'x', KEY_LIMIT: 'y', OPENAI_BASE_URL: 'z' }).split('\n')).toHaveLength(4)
})

test('shows no more than a line of a wrong value', () => {
  expect(messageOf({ LOG_LEVEL: 'x'.repeat(5000) }).length).toBeLessThan(300)
})

test.each([
  ['OPENAI_API_KEY', 'sk-canary\u0000-1'],
  ['OPENAI_API_KEY', 'sk-canary with blanks'],
  ['TWO_WORDS_API_KEY', 'sk-ok,sk-cänary'],
  ['OPENAI_BASE_URL', 'https://user:canary@proxy.example/v1'],
  ['PUBLIC_URL', 'https://user:canary@gateway.example'],
  ['METRICS_TOKEN', 'canary'],
  ['DATABASE_URL', 'postgres://tollgate:canary@db.example/x'],
])('never repeats the secret in %s', (name, secret) => {
  const message = messageOf({ [name]: secret })
  expect(message).toContain(name)
  expect(message).not.toMatch(/c[aä]nary/)
})

describe('a provider', () => {
  test('takes several credentials, an address and time-outs of its own', () => {
    const env = {
      TWO_WORDS_API_KEY: 'a, b,',
      TWO_WORDS_BASE_URL: 'http://127.0.0.1:8000/v1//',
      TWO_WORDS_FIRST_BYTE_TIMEOUT: '9s',
    }
    const { providers, upstreamTimeouts } = loadConfig(env, ids)
    expect(providers.get('two-words')).toEqual({
      apiKeys: ['a', 'b'],
      baseUrl: 'http://127.0.0.1:8000/v1',
      timeouts: { ...upstreamTimeouts, firstByteMs: 9000 },
    })
    expect(providers.get('openai')?.timeouts).toEqual(upstreamTimeouts)
  })
})

test('a credential of JSON is one, whatever commas and lines it has', () => {
  const keyFile = { type: 'service_account', private_key: '-----BEGIN\nkey', list: [1, 2] }
  const written = JSON.stringify(keyFile, null, 2)
  const { providers } = loadConfig({ OPENAI_API_KEY: written }, ids)
  expect(providers.get('openai')?.apiKeys).toEqual([JSON.stringify(keyFile)])
})

describe('.env.example', () => {
  const text = readFileSync(join(import.meta.dirname, '../.env.example'), 'utf8')
  const example = dotenv.parse(text)
  const called = providers.filter(provider => !('answerInProcess' in provider))

  test('names every setting and no other', () => {
    const ofProviders = called.flatMap(({ id }) => [
      `${settingPrefix(id)}API_KEY`,
      `${settingPrefix(id)}BASE_URL`,
    ])
    expect(Object.keys(example).sort()).toEqual([...settingNames, ...ofProviders].sort())
  })

  test('has the defaults', () => {
    const registry = providers.map(({ id }) => id)
    expect(loadConfig(example, registry)).toEqual(loadConfig({}, registry))
    const standard = Object.entries(example).filter(([name]) => settingNames.includes(name))
    const unset = standard.filter(([, value]) => value === '').map(([name]) => name)
    expect(unset).toEqual([
      'PUBLIC_URL',
      'CORS_ORIGINS',
      'METRICS_TOKEN',
      'TOP_UP_URL',
      'PROVIDERS_FILE',
    ])
  })

  test('names the address of each provider', () => {
    for (const { name, baseUrl } of called) {
      const line = text.split('\n').find(line => line.startsWith(`# ${name}: `))
      expect(line, name).toContain(baseUrl)
    }
  })

  test('gives each setting a line of meaning', () => {
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      if (/^[A-Z_]+=/.test(line) && !line.includes('BASE_URL'))
        expect(lines[index - 1]).toMatch(/^# \S+ ?\S/)
    }
  })
})
