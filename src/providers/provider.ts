import type { Dialect } from '../dialects/dialect.ts'

/** Who we call and pay: an address, a credential and the dialect spoken there. Never a wire format of its own. */
export interface Provider {
  /** The first segment of a model id; also names the settings `<ID>_API_KEY` and `<ID>_BASE_URL`. */
  readonly id: string
  /** As a person writes it. */
  readonly name: string
  /** Without a final slash; the dialect's path is appended. */
  readonly baseUrl: string
  readonly dialect: Dialect
  /** The setting that holds the credential, or `null` where none is needed (a server on one's own machine). */
  readonly apiKeyEnv: string | null
  /** Headers that carry the credential. */
  authorize(apiKey: string): Record<string, string>
  /** Answers in this process instead of over the network (the demo). */
  readonly answerInProcess?: InProcessAnswer
}

/** An upstream that lives in this process: takes the rendered body, yields the bytes of an answer. */
export type InProcessAnswer = (body: string, signal: AbortSignal) => { contentType: string; chunks: AsyncIterable<string> }

export const bearer = (apiKey: string): Record<string, string> => ({ authorization: `Bearer ${apiKey}` })

/** For servers that take no credential. */
export const anonymous = (): Record<string, string> => ({})
