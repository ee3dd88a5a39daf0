import type { Dispatcher } from 'undici'
import { GatewayError } from '../errors.ts'

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>
export type UpstreamHead = { status: number; headers: UpstreamHeaders }

/** Takes the bytes of one answer as they come. */
export interface BytesSink {
  onBytes(bytes: Buffer): void
  /** The upstream closed the answer as HTTP says it must; whether the answer itself is whole is the dialect's to say. */
  onEnd(): void
  /** Never after `onEnd`. */
  onError(error: GatewayError): void
}

/**
 * One call to an upstream, from the request to the last byte. It is the handler that undici drives; what arrives before
 * somebody asks for it (`head`, `readWhole`, `pipeTo`) is kept, so no event is lost between two of those.
 */
export class UpstreamCall implements Dispatcher.DispatchHandler, BytesSink {
  #controller: Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'> | null = null
  #abortReason: GatewayError | null = null
  #head: UpstreamHead | null = null
  #early: Buffer[] = []
  #ended = false
  #error: GatewayError | null = null
  #sink: BytesSink | null = null
  #resolveHead: ((head: UpstreamHead) => void) | null = null
  #rejectHead: ((error: GatewayError) => void) | null = null

  /** Resolves when status and headers are there. Raises `provider_unavailable`, `provider_timeout`, `provider_error`. */
  head(): Promise<UpstreamHead> {
    if (this.#error) return Promise.reject(this.#error)
    if (this.#head) return Promise.resolve(this.#head)
    return new Promise((resolve, reject) => {
      this.#resolveHead = resolve
      this.#rejectHead = reject
    })
  }

  /** The whole body as text. Raises what `head` does, and `provider_invalid_response` past `limitBytes`. */
  readWhole(limitBytes: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = []
      let size = 0
      this.pipeTo({
        onBytes: bytes => {
          size += bytes.length
          if (size <= limitBytes) parts.push(bytes)
          else
            this.abort(
              new GatewayError(
                'provider_invalid_response',
                'The provider sent an answer too large to relay.',
              ),
            )
        },
        onEnd: () =>
          resolve(
            (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)).toString('utf8'),
          ),
        onError: reject,
      })
    })
  }

  /** Hands the body to `sink`, first what came already. Called once, after `head`. */
  pipeTo(sink: BytesSink): void {
    this.#sink = sink
    const early = this.#early
    this.#early = []
    for (const bytes of early) sink.onBytes(bytes)
    if (this.#error) sink.onError(this.#error)
    else if (this.#ended) sink.onEnd()
  }

  /** Closes the connection at once. Whoever waits gets `reason`; after the end it does nothing. */
  abort(reason: GatewayError): void {
    if (this.#ended || this.#error) return
    this.#abortReason = reason
    if (this.#controller) this.#controller.abort(reason)
    else this.onError(reason)
  }

  /** Stops reading from the upstream (backpressure). */
  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  onRequestStart(
    controller: Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>,
  ): void {
    this.#controller = controller
    // Left while waiting for a connection: nothing is sent.
    if (this.#abortReason) controller.abort(this.#abortReason)
  }

  onResponseStart(_controller: unknown, status: number, headers: UpstreamHeaders): void {
    // 1xx heads only announce the real one.
    if (status < 200) return
    this.#head = { status, headers }
    this.#resolveHead?.(this.#head)
  }

  onResponseData(_controller: unknown, bytes: Buffer): void {
    this.onBytes(bytes)
  }

  onResponseEnd(): void {
    this.onEnd()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.onError(this.#abortReason ?? toProviderError(error, this.#head !== null))
  }

  onBytes(bytes: Buffer): void {
    if (this.#error) return
    if (this.#sink) this.#sink.onBytes(bytes)
    else this.#early.push(bytes)
  }

  onEnd(): void {
    if (this.#error || this.#ended) return
    this.#ended = true
    this.#sink?.onEnd()
  }

  onError(error: GatewayError): void {
    if (this.#error || this.#ended) return
    this.#error = error
    if (this.#sink) this.#sink.onError(error)
    else this.#rejectHead?.(error)
  }
}

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
])
const timedOut = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])

/** undici's error codes: https://github.com/nodejs/undici/blob/v7.30.2/docs/docs/api/Errors.md */
const toProviderError = (error: Error & { code?: string }, answered: boolean): GatewayError => {
  const details = { cause: error, internal: `${error.code ?? error.name}: ${error.message}` }
  const code = error.code ?? ''
  if (unreachable.has(code)) {
    return new GatewayError('provider_unavailable', 'The provider can not be reached.', details)
  }
  if (timedOut.has(code)) {
    return new GatewayError('provider_timeout', 'The provider took too long to answer.', details)
  }
  if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return new GatewayError(
      'provider_invalid_response',
      'The provider sent an answer that can not be read.',
      details,
    )
  }
  return answered
    ? new GatewayError(
        'provider_error',
        'The connection to the provider broke off during the answer.',
        details,
      )
    : new GatewayError(
        'provider_error',
        'The provider closed the connection without an answer.',
        details,
      )
}
