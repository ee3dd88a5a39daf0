/**
 * The environment as a zod schema: the only place that reads `process.env`. It checks and converts, and refuses to be
 * where a setting is acted upon. A wrong value never passes silently: all of them are reported at once.
 */
import { isIP } from 'node:net'
import dotenv from 'dotenv'
import { z } from 'zod'

export type Environment = Readonly<Record<string, string | undefined>>

/** Wrong settings, all at once; the message is for the operator and holds no secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Wrong settings:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** The process's environment over what `.env` in the working folder has. */
export const readEnvironment = (): Environment => {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined) environment[name] = value
  }
  dotenv.config({ quiet: true, processEnv: environment })
  return environment
}

/** What a setting takes, said after its name where the value is wrong; `read` gives `undefined` for a wrong value. */
type Kind<T> = { allowed: string; read: (text: string) => T | undefined; secret?: boolean }

const setting = <T>({ allowed, read, secret = false }: Kind<T>, standard: string) =>
  z
    .string()
    .default(standard)
    .transform((text, context) => {
      const value = read(text)
      if (value !== undefined) return value
      context.addIssue({ code: 'custom', message: allowed })
      return z.NEVER
    })
    .meta({ secret })

const optional = <T>({ allowed, read, ...rest }: Kind<T>): Kind<T | null> => ({
  allowed,
  read: text => (text === '' ? null : read(text)),
  ...rest,
})

const wholeNumber = (least: number, most: number, what: string): Kind<number> => ({
  allowed: `${what}, ${least} to ${most}`,
  read: text => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : undefined
  },
})

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const

/** Milliseconds. A timer of Node takes no more than 24 days. */
const duration: Kind<number> = {
  allowed: 'a duration from 1ms to 24h, such as 500ms, 5s or 30m',
  read: text => {
    const [, digits, unit] = /^(\d{1,8})(ms|s|m|h)$/.exec(text) ?? []
    if (digits === undefined) return undefined
    const value = Number(digits) * unitMs[unit as keyof typeof unitMs] // the pattern names no other unit
    return value >= 1 && value <= 24 * unitMs.h ? value : undefined
  },
}

const unitBytes = { '': 1, KiB: 1024, MiB: 1024 ** 2 } as const

const size: Kind<number> = {
  allowed: 'a size from 1KiB to 512MiB, in bytes or such as 10MiB',
  read: text => {
    const [, digits, unit] = /^(\d{1,9})(KiB|MiB|)$/.exec(text) ?? []
    if (digits === undefined) return undefined
    const value = Number(digits) * unitBytes[unit as keyof typeof unitBytes] // the pattern names no other unit
    return value >= 1024 && value <= 512 * unitBytes.MiB ? value : undefined
  },
}

const oneOf = <const T extends string>(values: readonly T[]): Kind<T> => ({
  allowed: `one of ${values.join(', ')}`,
  read: text => values.find(value => value === text),
})

const parsedUrl = (text: string): URL | undefined =>
  URL.canParse(text) ? new URL(text) : undefined

const isPlainHttp = (url: URL): boolean =>
  /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === ''

/** Azure's versions; nothing else is told in the query of a base URL. */
const isQueryOfBase = /^(?:\?api-version=[\w.-]+)?$/

/** Without a final slash. */
const baseUrl: Kind<string> = {
  allowed: 'an http(s) URL without user name, password, query or fragment',
  read: text => {
    const url = parsedUrl(text)
    return url && isPlainHttp(url) && isQueryOfBase.test(url.search)
      ? url.href.replace(/\/+(?=\?|$)/, '')
      : undefined
  },
  secret: true, // where a password stands in it by mistake
}

const pageUrl: Kind<string> = {
  allowed: 'an http(s) URL',
  read: text => {
    const url = parsedUrl(text)
    return url && isPlainHttp(url) ? url.href : undefined
  },
}

/** The path of the database file. */
const database: Kind<string> = {
  allowed: 'file: and a path, such as file:./data/tollgate.db',
  read: text => /^file:(?!:)([^?#\0]+)$/.exec(text)?.[1]?.replace(/^\/\/(?=\/)/, ''),
  secret: true, // a server's URL holds a password
}

const list = (text: string): string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

const isOrigin = (text: string): boolean => {
  const url = parsedUrl(text)
  return url !== undefined && isPlainHttp(url) && url.origin === text
}

const origins: Kind<'*' | readonly string[]> = {
  allowed: '*, or origins such as https://app.example.com, separated by commas',
  read: text => (text === '*' ? text : list(text).every(isOrigin) ? list(text) : undefined),
}

const isProxy = (text: string): boolean => {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** As Fastify's `trustProxy` takes it. */
const proxies: Kind<boolean | number | string[]> = {
  allowed:
    'true, false, the number of proxies (1 to 10), or addresses such as 10.0.0.0/8 or loopback, separated by commas',
  read: text => {
    if (text === 'true' || text === 'false') return text === 'true'
    if (/^([1-9]|10)$/.test(text)) return Number(text)
    return list(text).length > 0 && list(text).every(isProxy) ? list(text) : undefined
  },
}

const host: Kind<string> = {
  allowed: 'an address or a host name',
  read: text => (/^[\w.:%-]{1,255}$/.test(text) ? text : undefined),
}

const path: Kind<string> = {
  allowed: 'a path',
  read: text => (text.includes('\0') ? undefined : text),
}

const token: Kind<string> = {
  allowed: '16 to 256 visible characters without blanks',
  read: value => (/^[\x21-\x7e]{16,256}$/.test(value) ? value : undefined),
  secret: true,
}

/** A key file of JSON, in which commas separate nothing; on one line. */
const keyFile = (value: string): string | undefined => {
  if (!/^\s*\{.*\}\s*$/s.test(value)) return undefined
  try {
    return JSON.stringify(JSON.parse(value))
  } catch {
    return undefined
  }
}

const credentials: Kind<readonly string[]> = {
  allowed: 'one or several credentials of visible ASCII characters, separated by commas, or JSON',
  read: value => {
    const file = keyFile(value)
    if (file !== undefined) return [file]
    const keys = list(value)
    return keys.every(key => /^[\x21-\x7e]{1,4096}$/.test(key)) ? keys : undefined
  },
  secret: true,
}

/** The settings of the gateway itself, each with its default; `''` is: not set. */
const GatewaySettings = z.object({
  NODE_ENV: setting(oneOf(['development', 'production', 'test']), 'development'),
  HOST: setting(host, '127.0.0.1'),
  PORT: setting(wholeNumber(0, 65_535, 'a port (0 takes any that is free)'), '8080'),
  PUBLIC_URL: setting(optional(baseUrl), ''),
  DATABASE_URL: setting(database, 'file:./data/tollgate.db'),
  LOG_LEVEL: setting(oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  TRUST_PROXY: setting(proxies, 'false'),
  CORS_ORIGINS: setting(origins, ''),
  KEY_LIMIT: setting(wholeNumber(1, 10_000, 'a number of keys'), '20'),
  MARKUP_BASIS_POINTS: setting(wholeNumber(0, 100_000, 'hundredths of a per cent'), '0'),
  METRICS_TOKEN: setting(optional(token), ''),
  TOP_UP_URL: setting(optional(pageUrl), ''),
  PROVIDERS_FILE: setting(optional(path), ''),
  BODY_LIMIT: setting(size, '10MiB'),
  REQUEST_TIMEOUT: setting(duration, '60s'),
  KEEP_ALIVE_INTERVAL: setting(duration, '10s'),
  DRAIN_TIMEOUT: setting(duration, '25s'),
  MAX_CONNECTIONS: setting(wholeNumber(1, 1_000_000, 'a number of connections'), '10000'),
  MAX_CONCURRENT_REQUESTS: setting(wholeNumber(1, 1_000_000, 'a number of requests'), '5000'),
  MAX_CONCURRENT_REQUESTS_PER_KEY: setting(
    wholeNumber(1, 1_000_000, 'a number of requests'),
    '1000',
  ),
  UPSTREAM_CONNECT_TIMEOUT: setting(duration, '5s'),
  UPSTREAM_FIRST_BYTE_TIMEOUT: setting(duration, '120s'),
  UPSTREAM_WHOLE_TIMEOUT: setting(duration, '600s'),
  UPSTREAM_IDLE_TIMEOUT: setting(duration, '300s'),
  UPSTREAM_TOTAL_TIMEOUT: setting(duration, '30m'),
})

/** The settings of one provider; each name follows its id and `_`. A time-out left out is the gateway's. */
const ProviderSettingsSchema = z.object({
  API_KEY: setting(credentials, ''),
  BASE_URL: setting(optional(baseUrl), ''),
  CONNECT_TIMEOUT: setting(optional(duration), ''),
  FIRST_BYTE_TIMEOUT: setting(optional(duration), ''),
  WHOLE_TIMEOUT: setting(optional(duration), ''),
  IDLE_TIMEOUT: setting(optional(duration), ''),
  TOTAL_TIMEOUT: setting(optional(duration), ''),
})

/** The names of all settings of the gateway itself. */
export const settingNames: readonly string[] = Object.keys(GatewaySettings.shape)

/** What the settings of a provider start with: `openai` → `OPENAI_`. */
export const settingPrefix = (providerId: string): string =>
  `${providerId.toUpperCase().replaceAll('-', '_')}_`

/** Milliseconds, per phase of a call to an upstream. */
type Timeouts = {
  connectMs: number
  firstByteMs: number
  wholeFirstByteMs: number
  idleMs: number
  totalMs: number
}

type ProviderSettings = { apiKeys: readonly string[]; baseUrl: string | null; timeouts: Timeouts }

export type Config = Readonly<{
  nodeEnv: 'development' | 'production' | 'test'
  host: string
  port: number
  /** Without a final slash. */
  publicUrl: string | null
  databasePath: string
  logLevel: string
  trustProxy: boolean | number | string[]
  corsOrigins: '*' | readonly string[]
  keyLimit: number
  markupBasisPoints: number
  metricsToken: string | null
  topUpUrl: string | null
  providersFile: string | null
  bodyLimitBytes: number
  requestTimeoutMs: number
  keepAliveIntervalMs: number
  drainTimeoutMs: number
  maxConnections: number
  maxConcurrentRequests: number
  maxConcurrentRequestsPerKey: number
  /** The gateway's own, for whatever has no setting of its own. */
  upstreamTimeouts: Timeouts
  /** By provider id, one for each id of the registry. */
  providers: ReadonlyMap<string, ProviderSettings>
}>

/** `given` is shown unless it may hold a secret, and never more than a line of it. */
const problem = (name: string, given: string, secret: boolean, allowed: string): string =>
  `${name}: ${secret ? 'the value given (not shown)' : JSON.stringify(given.slice(0, 80))} is not allowed; give ${allowed}`

/** Reads those settings of `schema` whose names start with `prefix`. An empty one counts as not set. */
const read = <T extends typeof GatewaySettings | typeof ProviderSettingsSchema>(
  schema: T,
  env: Environment,
  prefix: string,
  problems: string[],
): z.output<T> | undefined => {
  const given: Record<string, string> = {}
  for (const name of Object.keys(schema.shape)) {
    const value = env[prefix + name]?.trim()
    if (value) given[name] = value
  }
  const result = schema.safeParse(given)
  if (result.success) return result.data as z.output<T> // zod widens the union of both schemas
  for (const {
    path: [name],
    message,
  } of result.error.issues) {
    const shape: Record<string, z.ZodType> = schema.shape
    const secret = shape[String(name)]?.meta()?.secret !== false
    problems.push(problem(prefix + String(name), given[String(name)] ?? '', secret, message))
  }
  return undefined
}

const readProvider = (
  id: string,
  env: Environment,
  timeouts: Timeouts,
  problems: string[],
): ProviderSettings => {
  const own = read(ProviderSettingsSchema, env, settingPrefix(id), problems)
  return {
    apiKeys: own?.API_KEY ?? [],
    baseUrl: own?.BASE_URL ?? null,
    timeouts: {
      connectMs: own?.CONNECT_TIMEOUT ?? timeouts.connectMs,
      firstByteMs: own?.FIRST_BYTE_TIMEOUT ?? timeouts.firstByteMs,
      wholeFirstByteMs: own?.WHOLE_TIMEOUT ?? timeouts.wholeFirstByteMs,
      idleMs: own?.IDLE_TIMEOUT ?? timeouts.idleMs,
      totalMs: own?.TOTAL_TIMEOUT ?? timeouts.totalMs,
    },
  }
}

/** Raises `ConfigError` with every wrong setting. `providerIds`: those of the registry. */
export const loadConfig = (env: Environment, providerIds: readonly string[]): Config => {
  const problems: string[] = []
  const own = read(GatewaySettings, env, '', problems)
  const upstreamTimeouts: Timeouts = {
    connectMs: own?.UPSTREAM_CONNECT_TIMEOUT ?? 0,
    firstByteMs: own?.UPSTREAM_FIRST_BYTE_TIMEOUT ?? 0,
    wholeFirstByteMs: own?.UPSTREAM_WHOLE_TIMEOUT ?? 0,
    idleMs: own?.UPSTREAM_IDLE_TIMEOUT ?? 0,
    totalMs: own?.UPSTREAM_TOTAL_TIMEOUT ?? 0,
  }
  const providers = new Map(
    providerIds.map(id => [id, readProvider(id, env, upstreamTimeouts, problems)]),
  )
  if (own === undefined || problems.length > 0) throw new ConfigError(problems)
  return {
    nodeEnv: own.NODE_ENV,
    host: own.HOST,
    port: own.PORT,
    publicUrl: own.PUBLIC_URL,
    databasePath: own.DATABASE_URL,
    logLevel: own.LOG_LEVEL,
    trustProxy: own.TRUST_PROXY,
    corsOrigins: own.CORS_ORIGINS,
    keyLimit: own.KEY_LIMIT,
    markupBasisPoints: own.MARKUP_BASIS_POINTS,
    metricsToken: own.METRICS_TOKEN,
    topUpUrl: own.TOP_UP_URL,
    providersFile: own.PROVIDERS_FILE,
    bodyLimitBytes: own.BODY_LIMIT,
    requestTimeoutMs: own.REQUEST_TIMEOUT,
    keepAliveIntervalMs: own.KEEP_ALIVE_INTERVAL,
    drainTimeoutMs: own.DRAIN_TIMEOUT,
    maxConnections: own.MAX_CONNECTIONS,
    maxConcurrentRequests: own.MAX_CONCURRENT_REQUESTS,
    maxConcurrentRequestsPerKey: own.MAX_CONCURRENT_REQUESTS_PER_KEY,
    upstreamTimeouts,
    providers,
  }
}
