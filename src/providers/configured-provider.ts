import type { Provider } from './provider.ts'

/** Milliseconds, per phase of one call. */
export type UpstreamTimeouts = {
  readonly connectMs: number
  /** To the head of a streamed answer. */
  readonly firstByteMs: number
  /** To the head of a whole answer, which comes only when all is generated. */
  readonly wholeFirstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

/** A provider with this gateway's settings applied: where it is reached and with what. Made once, at start. */
export type ConfiguredProvider = {
  readonly provider: Provider
  /** `https://host[:port]` */
  readonly origin: string
  /** What stands between the origin and the dialect's path: `''` or `/v1`. */
  readonly basePath: string
  /** `?api-version=…` of the base URL, sent with every request; mostly empty. */
  readonly query: string
  /** Used in turn. Empty where none is set, or none is needed. */
  readonly apiKeys: readonly string[]
  /** A credential is there, or none is needed: its models can be served. */
  readonly available: boolean
  readonly timeouts: UpstreamTimeouts
}

/** What the operator set for one provider. */
export type ProviderSettings = {
  readonly apiKeys: readonly string[]
  /** Instead of the provider's own; `null` where not set. */
  readonly baseUrl: string | null
  readonly timeouts: UpstreamTimeouts
}

/**
 * Splits a base URL into origin, path without final slashes, and query. Raises `TypeError`, which doesn't repeat it,
 * where it is not http(s) or holds credentials, a fragment, or a query other than Azure's `api-version`.
 */
export const splitBaseUrl = (
  baseUrl: string,
): { origin: string; basePath: string; query: string } => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const plain =
    url &&
    /^https?:$/.test(url.protocol) &&
    !url.username &&
    !url.password &&
    /^(?:\?api-version=[\w.-]+)?$/.test(url.search) &&
    !url.hash
  if (!url || !plain)
    throw new TypeError('not an http(s) URL without user name, password, query and fragment')
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, ''), query: url.search }
}

/** Of the operator's file: where providers are and with what, and which ones it has models for. */
type FromFile = {
  readonly models: ReadonlyMap<string, unknown>
  readonly reached: ReadonlyMap<
    string,
    { readonly baseUrl: string | null; readonly apiKeys: readonly string[] }
  >
}

/**
 * Applies the settings to each provider, by id; what the environment says comes before the operator's file. Raises
 * `TypeError` for a base URL that `splitBaseUrl` refuses.
 */
export const configureProviders = (
  providers: readonly Provider[],
  settings: ReadonlyMap<string, ProviderSettings>,
  timeouts: UpstreamTimeouts,
  file?: FromFile,
): ReadonlyMap<string, ConfiguredProvider> => {
  const configure = (provider: Provider): ConfiguredProvider => {
    const own = settings.get(provider.id)
    const reached = file?.reached.get(provider.id)
    const baseUrl = own?.baseUrl ?? reached?.baseUrl ?? null
    const apiKeys = own?.apiKeys.length ? own.apiKeys : (reached?.apiKeys ?? [])
    // A server of one's own is where it usually is, once the file has models for it.
    const expected = provider.apiKeyEnv === null && file?.models.has(provider.id) === true
    const placed = provider.needsBaseUrl !== true || baseUrl !== null || expected
    return {
      provider,
      ...splitBaseUrl(baseUrl ?? provider.baseUrl),
      apiKeys,
      available: placed && (provider.apiKeyEnv === null || apiKeys.length > 0),
      timeouts: own?.timeouts ?? timeouts,
    }
  }
  return new Map(providers.map(provider => [provider.id, configure(provider)]))
}
