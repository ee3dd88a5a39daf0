/**
 * The one way to fetch a URL that a client gave: images and files for providers that want bytes. Whatever the URL says,
 * it reaches only public addresses, and it brings back a bounded body in bounded time. It carries no credential, and
 * what the body is good for is the caller's to say.
 */
import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { isPublicAddress } from './public-address.ts'

export type Fetched = {
  /** Lower case, without parameters; empty where the answer names none. */
  readonly mediaType: string
  readonly bytes: Buffer
}

/** Why nothing was fetched, as a sentence for the client. It never tells what an inner host answered. */
export class FetchRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'FetchRefused'
  }
}

type Resolve = (
  hostname: string,
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

export type GuardedFetcherOptions = {
  readonly maxBytes?: number
  /** For all of a fetch, redirects included. */
  readonly timeoutMs?: number
  /** At once, of all requests together; further ones are refused. */
  readonly maxFetches?: number
  /** Where host names are looked up. */
  readonly resolve?: Resolve
  /** Which addresses may be connected to. */
  readonly allows?: (address: string) => boolean
}

const maxRedirects = 3
const connectTimeoutMs = 5_000
const maxUrlLength = 8_192

const systemResolve: Resolve = (hostname, done) =>
  lookup(hostname, { all: true, verbatim: true }, done)

const notPublic = () => new FetchRefused('its address is not a public one')

export class GuardedFetcher {
  readonly #agent: Agent
  readonly #allows: (address: string) => boolean
  readonly #maxBytes: number
  readonly #timeoutMs: number
  readonly #maxFetches: number
  #fetches = 0

  constructor({
    maxBytes = 20 * 1024 * 1024,
    timeoutMs = 20_000,
    maxFetches = 64,
    resolve = systemResolve,
    allows = isPublicAddress,
  }: GuardedFetcherOptions = {}) {
    this.#allows = allows
    this.#maxBytes = maxBytes
    this.#timeoutMs = timeoutMs
    this.#maxFetches = maxFetches
    // The look-up belongs to the connection itself: between a check and a connection the name could change its mind.
    const connect = { timeout: connectTimeoutMs, lookup: guardedLookup(resolve, allows) }
    this.#agent = new Agent({
      connect,
      connections: maxFetches,
      pipelining: 1,
      maxHeaderSize: 16 * 1024,
    })
  }

  /** GET, following up to 3 redirects. Raises `FetchRefused`. */
  async fetch(url: string, signal?: AbortSignal): Promise<Fetched> {
    if (this.#fetches >= this.#maxFetches)
      throw new FetchRefused('the gateway is fetching as much as it can; try again shortly')
    this.#fetches++
    try {
      const timeout = AbortSignal.timeout(this.#timeoutMs)
      return await this.#follow(url, signal ? AbortSignal.any([signal, timeout]) : timeout)
    } catch (error) {
      throw toRefusal(error)
    } finally {
      this.#fetches--
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #follow(first: string, signal: AbortSignal): Promise<Fetched> {
    let url = this.#check(first)
    for (let redirects = 0; ; redirects++) {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: this.#agent,
        signal,
        // Compression would let a small answer grow past any bound.
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'tollgate' },
      })
      try {
        const location = textOf(headers.location)
        if (statusCode < 300 || statusCode >= 400 || location === '')
          return await this.#read(statusCode, headers, body)
        if (redirects === maxRedirects) throw new FetchRefused('it redirects too often')
        url = this.#check(location, url.href)
      } finally {
        body.on('error', ignore).destroy()
      }
    }
  }

  /** A literal address is connected to without a look-up, so it is checked here. */
  #check(text: string, base?: string): URL {
    if (text.length > maxUrlLength || !URL.canParse(text, base))
      throw new FetchRefused('it is not a URL')
    const url = new URL(text, base)
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new FetchRefused('it is not an http or https URL')
    if (url.username !== '' || url.password !== '') throw new FetchRefused('it holds credentials')
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (host === '' || (isIP(host) !== 0 && !this.#allows(host))) throw notPublic()
    return url
  }

  async #read(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: AsyncIterable<Buffer>,
  ): Promise<Fetched> {
    if (status < 200 || status >= 300)
      throw new FetchRefused(`its server answered with status ${status}`)
    const encoding = textOf(headers['content-encoding']).toLowerCase()
    if (encoding !== '' && encoding !== 'identity')
      throw new FetchRefused('its server compressed it')
    const tooLarge = () => new FetchRefused(`it is larger than ${this.#maxBytes} bytes`)
    if (Number(textOf(headers['content-length'])) > this.#maxBytes) throw tooLarge()
    const parts: Buffer[] = []
    let size = 0
    for await (const part of body) {
      size += part.length
      if (size > this.#maxBytes) throw tooLarge()
      parts.push(part)
    }
    const [mediaType = ''] = textOf(headers['content-type']).split(';')
    return { mediaType: mediaType.trim().toLowerCase(), bytes: Buffer.concat(parts) }
  }
}

/** One forbidden address among several is a trap, so it refuses them all. */
const guardedLookup =
  (resolve: Resolve, allows: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, (error, found) => {
      if (error) callback(error, '')
      else if (found.length === 0 || !found.every(({ address }) => allows(address)))
        callback(notPublic(), '')
      else if (options.all) callback(null, found)
      else callback(null, found[0]?.address ?? '', found[0]?.family)
    })

const toRefusal = (error: unknown): FetchRefused => {
  if (error instanceof FetchRefused) return error
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof FetchRefused) return cause
  const name = error instanceof Error ? error.name : ''
  return name === 'TimeoutError'
    ? new FetchRefused('its server took too long', error)
    : new FetchRefused('its server can not be reached', error)
}

const ignore = () => {}

const textOf = (header: string | string[] | undefined): string =>
  (Array.isArray(header) ? header[0] : header) ?? ''
