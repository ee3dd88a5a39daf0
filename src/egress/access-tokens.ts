/**
 * Tokens that providers' credentials are exchanged for: kept until shortly before they expire, asked for by one request
 * at a time, however many wait. It knows neither whose they are nor what a credential looks like.
 */
import { GatewayError } from '../errors.ts'
import type { Upstreams } from './upstreams.ts'

/** As a provider describes it; see there. */
type TokenExchange = {
  request(
    credential: string,
    nowMs: number,
  ): { url: string; headers: Record<string, string>; body: string } | null
  parse(body: string): { token: string; expiresInS: number }
}

type Kept = {
  token: string | null
  /** From here on it is renewed in the background; it still works. */
  renewAtMs: number
  expiresAtMs: number
  renewing: Promise<string> | null
}

/** Credentials kept of one provider; far more than any operator sets. */
const maxKept = 256
const answerLimitBytes = 64 * 1024
const timeoutMs = 10_000
/** A token is used up to here before its end, so that it doesn't expire on its way. */
const marginMs = 60_000
const renewBeforeMs = 5 * 60_000
/** After a failure the old token, as long as it works, is good for this long before the next try. */
const retryAfterMs = 10_000
const longestLifeS = 24 * 3_600

const never = Number.POSITIVE_INFINITY

export class AccessTokens {
  readonly #upstreams: Upstreams
  readonly #clock: () => number
  readonly #kept = new WeakMap<TokenExchange, Map<string, Kept>>()

  constructor(upstreams: Upstreams, clock: () => number) {
    this.#upstreams = upstreams
    this.#clock = clock
  }

  /**
   * What to authorize with: at once where a token is at hand, or none is needed, else when it has come. Raises
   * `provider_rejected_credentials`, `provider_unavailable`.
   */
  get(exchange: TokenExchange, credential: string): string | Promise<string> {
    const kept = this.#find(exchange, credential)
    const nowMs = this.#clock()
    if (kept.token === null || nowMs >= kept.expiresAtMs)
      return this.#renew(exchange, credential, kept)
    if (nowMs >= kept.renewAtMs) {
      kept.renewAtMs = nowMs + retryAfterMs
      this.#renew(exchange, credential, kept).catch(ignore)
    }
    return kept.token
  }

  /** The provider refused `token`: the next call asks for another one. */
  discard(exchange: TokenExchange, credential: string): void {
    const kept = this.#find(exchange, credential)
    if (kept.expiresAtMs !== never) kept.token = null
  }

  #find(exchange: TokenExchange, credential: string): Kept {
    let known = this.#kept.get(exchange)
    if (!known) {
      known = new Map()
      this.#kept.set(exchange, known)
    }
    let kept = known.get(credential)
    if (!kept) {
      if (known.size >= maxKept) known.clear()
      kept = { token: null, renewAtMs: 0, expiresAtMs: 0, renewing: null }
      known.set(credential, kept)
    }
    return kept
  }

  #renew(exchange: TokenExchange, credential: string, kept: Kept): Promise<string> {
    kept.renewing ??= this.#ask(exchange, credential, kept).finally(() => {
      kept.renewing = null
    })
    return kept.renewing
  }

  async #ask(exchange: TokenExchange, credential: string, kept: Kept): Promise<string> {
    const nowMs = this.#clock()
    const request = describe(exchange, credential, nowMs)
    if (request === null) {
      Object.assign(kept, { token: credential, renewAtMs: never, expiresAtMs: never })
      return credential
    }
    const answer = await this.#post(request)
    const { token, expiresInS } = read(exchange, answer)
    const lifeMs = Math.min(expiresInS, longestLifeS) * 1_000
    kept.token = token
    kept.expiresAtMs = nowMs + Math.max(lifeMs - marginMs, lifeMs / 2)
    kept.renewAtMs = kept.expiresAtMs - Math.min(renewBeforeMs, lifeMs / 4)
    return token
  }

  async #post({ url, headers, body }: NonNullable<ReturnType<typeof describe>>): Promise<string> {
    const { origin, pathname, search } = new URL(url)
    const call = this.#upstreams.send({
      origin,
      path: pathname + search,
      headers: { 'accept-encoding': 'identity', ...headers },
      body,
      connectTimeoutMs: timeoutMs,
      headTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
    })
    const timer = setTimeout(() => call.abort(unavailable('no answer in time')), timeoutMs)
    try {
      const { status } = await call.head()
      const answer = await call.readWhole(answerLimitBytes)
      if (status >= 200 && status < 300) return answer
      if (status >= 400 && status < 500 && status !== 408 && status !== 429)
        throw rejected(`status ${status} ${errorWord(answer)}`)
      throw unavailable(`status ${status} ${errorWord(answer)}`)
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'provider_rejected_credentials')
        throw error
      throw unavailable(
        error instanceof GatewayError ? (error.internal ?? error.code) : 'no answer',
      )
    } finally {
      clearTimeout(timer)
    }
  }
}

const ignore = () => {}

const rejected = (internal: string): GatewayError =>
  new GatewayError(
    'provider_rejected_credentials',
    "The provider refused this gateway's credential. Your API key is not the cause.",
    { internal: `access token: ${internal}` },
  )

const unavailable = (internal: string): GatewayError =>
  new GatewayError(
    'provider_unavailable',
    'The provider is not available at the moment. Try again later.',
    { internal: `access token: ${internal}` },
  )

/** What it throws may quote the credential, so nothing of that is passed on. */
const describe = (exchange: TokenExchange, credential: string, nowMs: number) => {
  try {
    const request = exchange.request(credential, nowMs)
    if (request === null || /^https?:$/.test(new URL(request.url).protocol)) return request
  } catch {
    // Told below.
  }
  throw rejected('the credential can not be read')
}

const read = (exchange: TokenExchange, answer: string) => {
  try {
    return exchange.parse(answer)
  } catch {
    throw unavailable('the answer holds no token')
  }
}

/** OAuth's own word for the failure; https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
const errorWord = (answer: string): string => /"error"\s*:\s*"(\w{1,64})"/.exec(answer)?.[1] ?? ''
