import type { GatewayError } from '../errors.ts'
import type { ChatAnswer, ChatChunk, ChatRequest } from '../wire/chat.ts'
import type { Usage } from '../wire/usage.ts'

/** What a dialect must know of the target to write a request to it. */
export type RenderTarget = {
  /** The name that the provider knows the model by. */
  upstreamModel: string
  /** The most output tokens the balance can pay; `null` leaves the client's own limit, or none, as it stands. */
  maxOutputTokens: number | null
}

export type RenderedRequest = {
  /** Below the provider's base URL, starting with `/`. */
  path: string
  /** Besides `content-type` and the credential. Lower case. */
  headers?: Record<string, string>
  body: string
}

export type ParsedAnswer = {
  answer: ChatAnswer
  /** `null` where the upstream reported none: then the gateway counts. */
  usage: Usage | null
}

/** One event of a stream. Each part may be missing: usage may come alone, and most chunks have none. */
export type StreamEvent = {
  chunk?: ChatChunk
  /** Instead of `chunk`, where the event is a piece of text and nothing else: the common case, already written. */
  text?: TextDelta
  /** Usage, or a later state of it; the last one counts. */
  usage?: Usage
  /** `usage` has all of the input, but not yet all of the output: the gateway counts what it delivers. */
  running?: true
}

export type TextDelta = {
  /** Index of the choice. */
  choice: number
  text: string
  /** The whole chunk as JSON, less its opening brace. */
  json: string
}

/** The chunk of an event, in whichever form it came. */
export const chunkOf = ({ chunk, text }: StreamEvent): ChatChunk | undefined =>
  text ? JSON.parse(`{${text.json}`) : chunk

/**
 * Reads one streamed answer. Fed the upstream's bytes as they come, cut anywhere; keeps what is incomplete.
 * `push` and `end` throw `GatewayError`: what the upstream reported as an error (with its catalogue code), or
 * `provider_invalid_response` for bytes that are not this dialect.
 */
export interface StreamReader {
  push(bytes: Buffer): StreamEvent[]
  /** The upstream closed. Throws `provider_invalid_response` where the answer lacks its own end. */
  end(): StreamEvent[]
  /** A failure behind events that were handed out: the next call would throw it, if there is a next. */
  readonly failure: GatewayError | null
  /** The upstream said that the answer is over (`[DONE]`, `message_stop`, …). */
  readonly done: boolean
}

/** A wire format, wherever it is spoken. Pure: no clock, no network, no environment. */
export interface Dialect {
  readonly id: string
  /**
   * Images and files must come as bytes: before a request is rendered, http(s) URLs in it (those for which the function
   * says so) are fetched and replaced by data URIs.
   */
  readonly inlinesMedia?: true | ((url: string) => boolean)
  /** Raises `unsupported_parameter` for a field that this format can't honour and that changes the answer. */
  renderRequest(chat: ChatRequest, target: RenderTarget): RenderedRequest
  /** `body` is the upstream's whole 2xx answer. Raises `provider_invalid_response`. */
  parseResponse(body: string): ParsedAnswer
  readStream(): StreamReader
  /** A non-2xx answer as a failure of the catalogue; `headers` are lower case. Never throws. */
  parseError(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: string,
  ): GatewayError
}
