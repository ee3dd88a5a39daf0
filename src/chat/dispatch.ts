import type { Dialect, RenderedRequest, RenderTarget } from '../dialects/dialect.ts'
import type { UpstreamCall } from '../egress/upstream-call.ts'
import type { Upstreams } from '../egress/upstreams.ts'
import { GatewayError } from '../errors.ts'
import type { ConfiguredProvider } from '../providers/configured-provider.ts'
import type { ChatRequest } from '../wire/chat.ts'
import type { Client } from './client.ts'
import type { Generation } from './generation.ts'
import type { Trip } from './in-flight.ts'

/** Never seen by anybody: the client it would be told to is the one that left. */
const clientLeft = new GatewayError('invalid_request', 'The client closed the connection.')

/** An error answer is read this far; the rest is of no use. */
const errorBodyLimitBytes = 64 * 1024

/** Credentials of each provider as headers, made once, and whose turn it is. */
type Turn = { headers: Record<string, string>[]; next: number }

export class Dispatcher {
  readonly #upstreams: Upstreams
  readonly #turns = new WeakMap<ConfiguredProvider, Turn>()

  constructor(upstreams: Upstreams) {
    this.#upstreams = upstreams
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
    const call = this.#send(generation)
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
      const body = await call.readWhole(errorBodyLimitBytes).catch(() => '')
      throw provider.dialect.parseError(status, head.headers, body)
    } catch (error) {
      note(status, client.gone ? 'client_closed_request' : codeOf(error))
      throw error
    }
  }

  #send({ model, chat, outputCap }: Generation): UpstreamCall {
    const { provider, origin, basePath, timeouts } = model.provider
    const rendered = render(provider.dialect, chat, {
      upstreamModel: model.upstreamModel,
      maxOutputTokens: outputCap,
    })
    return this.#upstreams.send({
      origin,
      path: basePath + rendered.path,
      headers: rendered.headers
        ? { ...this.#credential(model.provider), ...rendered.headers }
        : this.#credential(model.provider),
      body: rendered.body,
      connectTimeoutMs: timeouts.connectMs,
      headTimeoutMs: chat.stream ? timeouts.firstByteMs : timeouts.wholeFirstByteMs,
      idleTimeoutMs: timeouts.idleMs,
      ...(provider.answerInProcess ? { answerInProcess: provider.answerInProcess } : {}),
    })
  }

  #credential(configured: ConfiguredProvider): Record<string, string> {
    let turn = this.#turns.get(configured)
    if (!turn) {
      const { provider, apiKeys } = configured
      // Compression would make chunks wait for each other, and unpacking is an attack surface.
      const common = { 'content-type': 'application/json', 'accept-encoding': 'identity' }
      const credentials = apiKeys.length > 0 ? apiKeys.map(key => provider.authorize(key)) : [{}]
      turn = { headers: credentials.map(credential => ({ ...common, ...credential })), next: 0 }
      this.#turns.set(configured, turn)
    }
    const headers = turn.headers[turn.next % turn.headers.length] ?? {}
    turn.next++
    return headers
  }
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
