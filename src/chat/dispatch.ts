import type { Dialect, RenderedRequest, RenderTarget } from '../dialects/dialect.ts'
import type { AccessTokens } from '../egress/access-tokens.ts'
import type { GuardedFetcher } from '../egress/guarded-fetcher.ts'
import type { UpstreamCall } from '../egress/upstream-call.ts'
import type { Upstreams } from '../egress/upstreams.ts'
import { GatewayError } from '../errors.ts'
import type { Model } from '../models/model.ts'
import type { ConfiguredProvider } from '../providers/configured-provider.ts'
import type { ChatRequest } from '../wire/chat.ts'
import type { Client } from './client.ts'
import type { Generation } from './generation.ts'
import type { Trip } from './in-flight.ts'
import { findMedia, inlineMedia, type Place } from './inline-media.ts'

/** Never seen by anybody: the client it would be told to is the one that left. */
const clientLeft = new GatewayError('invalid_request', 'The client closed the connection.')

/** An error answer is read this far; the rest is of no use. */
const errorBodyLimitBytes = 64 * 1024

type Headers = Record<string, string>

/** Credentials of each provider as headers, made once, and whose turn it is. */
type Turn = { headers: Headers[]; next: number }

/** What a request goes out with, and what to do should its credential be refused. */
type Prepared = {
  chat: ChatRequest
  headers: Headers
  credential: string
  onRefused: () => void
}

/** Compression would make chunks wait for each other, and unpacking is an attack surface. */
const commonHeaders = { 'content-type': 'application/json', 'accept-encoding': 'identity' }

export type DispatchDeps = {
  upstreams: Upstreams
  tokens: AccessTokens
  fetcher: GuardedFetcher
  /** Unix time in milliseconds. */
  clock: () => number
}

export class Dispatcher {
  readonly #upstreams: Upstreams
  readonly #tokens: AccessTokens
  readonly #fetcher: GuardedFetcher
  readonly #clock: () => number
  readonly #turns = new WeakMap<ConfiguredProvider, Turn>()

  constructor({ upstreams, tokens, fetcher, clock }: DispatchDeps) {
    this.#upstreams = upstreams
    this.#tokens = tokens
    this.#fetcher = fetcher
    this.#clock = clock
  }

  /**
   * Calls the provider and resolves when it has said yes; the body is then still to come. The client's leaving, or an
   * interruption of `trip`, closes the connection at once. Raises what the dialect reads from a refusal, and
   * `provider_unavailable`, `provider_timeout`, `provider_error`, `unsupported_parameter`, `invalid_request`.
   */
  async dispatch(generation: Generation, client: Client, trip: Trip): Promise<UpstreamCall> {
    const { model } = generation
    const { provider } = model.provider
    const startedMs = generation.elapsedMs
    const preparing = this.#prepare(generation, client)
    const prepared = preparing instanceof Promise ? await preparing : preparing
    const call = this.#send(generation, prepared)
    trip.follow(call)
    client.onGone = () => call.abort(clientLeft)
    if (client.gone) client.onGone()
    const note = (status: number | null, error: string | null) =>
      generation.attempts.push({
        provider: provider.id,
        model: model.upstreamModel,
        status,
        error,
        latencyMs: generation.elapsedMs - startedMs,
      })
    let status: number | null = null
    try {
      const head = await call.head()
      status = head.status
      if (status >= 200 && status < 300) {
        note(status, null)
        return call
      }
      if (status === 401) prepared.onRefused()
      const body = await call.readWhole(errorBodyLimitBytes).catch(() => '')
      throw generation.dialect.parseError(status, head.headers, body)
    } catch (error) {
      note(status, client.gone ? 'client_closed_request' : codeOf(error))
      throw error
    }
  }

  /** Most requests are ready at once; some wait for a token, or for what their URLs name. */
  #prepare({ model, chat, dialect }: Generation, client: Client): Prepared | Promise<Prepared> {
    const { exchange } = model.provider.provider
    const media = dialect.inlinesMedia ? findMedia(chat, dialect.inlinesMedia) : []
    const { headers, credential } = this.#nextCredential(model.provider)
    if (!exchange) {
      const prepared = { chat, headers, credential, onRefused: nothing }
      return media.length === 0 ? prepared : this.#inline(prepared, media, client)
    }
    const token = this.#tokens.get(exchange, credential)
    const onRefused = () => this.#tokens.discard(exchange, credential)
    const authorized = (usable: string): Prepared => ({
      chat,
      headers: { ...commonHeaders, ...model.provider.provider.authorize(usable) },
      credential: usable,
      onRefused,
    })
    if (typeof token === 'string' && media.length === 0) return authorized(token)
    return this.#inline(Promise.resolve(token).then(authorized), media, client)
  }

  async #inline(
    preparing: Prepared | Promise<Prepared>,
    media: readonly Place[],
    client: Client,
  ): Promise<Prepared> {
    const leaving = new AbortController()
    client.onGone = () => leaving.abort()
    const prepared = await preparing
    const chat =
      media.length === 0
        ? prepared.chat
        : await inlineMedia(prepared.chat, media, this.#fetcher, leaving.signal)
    if (client.gone) throw clientLeft
    return { ...prepared, chat }
  }

  #send({ model, dialect, outputCap }: Generation, prepared: Prepared): UpstreamCall {
    const { chat, credential } = prepared
    const { provider, origin, timeouts } = model.provider
    const rendered = render(dialect, chat, {
      upstreamModel: model.upstreamModel,
      maxOutputTokens: outputCap,
    })
    const path = upstreamPath(model, rendered.path)
    let { headers } = prepared
    if (rendered.headers) headers = { ...headers, ...rendered.headers }
    if (provider.sign) {
      const request = { method: 'POST', url: origin + path, headers, body: rendered.body } as const
      headers = { ...headers, ...provider.sign(request, credential, this.#clock()) }
    }
    return this.#upstreams.send({
      origin,
      path,
      headers,
      body: rendered.body,
      connectTimeoutMs: timeouts.connectMs,
      headTimeoutMs: chat.stream ? timeouts.firstByteMs : timeouts.wholeFirstByteMs,
      idleTimeoutMs: timeouts.idleMs,
      ...(provider.answerInProcess ? { answerInProcess: provider.answerInProcess } : {}),
    })
  }

  #nextCredential(configured: ConfiguredProvider): { headers: Headers; credential: string } {
    const { provider, apiKeys } = configured
    let turn = this.#turns.get(configured)
    if (!turn) {
      const credentials = apiKeys.length > 0 ? apiKeys.map(key => provider.authorize(key)) : [{}]
      turn = { headers: credentials.map(one => ({ ...commonHeaders, ...one })), next: 0 }
      this.#turns.set(configured, turn)
    }
    const at = turn.next++ % turn.headers.length
    return { headers: turn.headers[at] ?? {}, credential: apiKeys[at] ?? '' }
  }
}

const nothing = () => {}

const upstreamPath = ({ provider, upstreamModel }: Model, path: string): string => {
  const { basePath, query } = provider
  return (provider.provider.place?.(basePath, path, upstreamModel) ?? basePath + path) + query
}

/** Values nested so deep can be read but not written: `JSON.stringify` recurses, `JSON.parse` does not. */
const render = (dialect: Dialect, chat: ChatRequest, target: RenderTarget): RenderedRequest => {
  try {
    return dialect.renderRequest(chat, target)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new GatewayError('invalid_request', 'The request is nested too deeply.')
  }
}

const codeOf = (error: unknown): string =>
  error instanceof GatewayError ? error.code : 'internal_error'
