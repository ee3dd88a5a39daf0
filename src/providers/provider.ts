import type { Dialect } from '../dialects/dialect.ts'
import type { ChatRequest } from '../wire/chat.ts'

/** Who we call and pay: an address, a credential and the dialect spoken there. Never a wire format of its own. */
export interface Provider {
  /** The first segment of a model id; also names the settings `<ID>_API_KEY` and `<ID>_BASE_URL`. */
  readonly id: string
  /** As a person writes it. */
  readonly name: string
  /** Without a final slash; the dialect's path is appended. */
  readonly baseUrl: string
  /**
   * Available only where `<ID>_BASE_URL` or the operator's file says where it is: a server of one's own, or an address
   * that holds an account's id. `baseUrl` is then an example.
   */
  readonly needsBaseUrl?: true
  readonly dialect: Dialect
  /** Another dialect for some requests: what a model takes may depend on what is asked of it. */
  readonly dialectFor?: (upstreamModel: string, chat: ChatRequest) => Dialect
  /** The path of a request, where it is not just the dialect's below the base URL's. */
  readonly place?: (basePath: string, path: string, upstreamModel: string) => string
  /** The setting that holds the credential, or `null` where none is needed (a server on one's own machine). */
  readonly apiKeyEnv: string | null
  /** Headers that carry the credential; where it is exchanged, the token that it was exchanged for. */
  authorize(apiKey: string): Record<string, string>
  /** Headers besides `authorize`'s, for a credential that is not sent but signs each request. */
  readonly sign?: (
    request: RequestToSign,
    credential: string,
    nowMs: number,
  ) => Record<string, string>
  /** How a credential is turned into a token that lives for a while. */
  readonly exchange?: TokenExchange
  /** Where its models and prices are published. Without, it sells what the operator's file prices. */
  readonly priceSources?: readonly PriceSource[]
  /** Where the second source has it; without, the list of that name there, if any. */
  readonly factsSource?: FactsSource
  /** Models that this file itself prices. */
  readonly ownModels?: readonly PricedModel[]
  /** Answers in this process instead of over the network (the demo). */
  readonly answerInProcess?: InProcessAnswer
}

/** As it goes over the wire. Names of headers are lower case. */
export type RequestToSign = {
  readonly method: 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A pure description: who makes the call, and keeps the token until it expires, is not its business. */
export type TokenExchange = {
  /** The POST that asks for a token; `null` for a credential that is sent as it is. Throws where it is unusable. */
  request(credential: string, nowMs: number): TokenRequest | null
  /** Reads a 2xx answer. Throws where it holds no token. */
  parse(body: string): { token: string; expiresInS: number }
}

export type TokenRequest = { url: string; headers: Record<string, string>; body: string }

/** An upstream that lives in this process: takes the rendered body, yields the bytes of an answer. */
export type InProcessAnswer = (
  body: string,
  signal: AbortSignal,
) => { contentType: string; chunks: AsyncIterable<string> }

/** One provider's list in genai-prices, and how far its names are those that this provider answers to. */
export type PriceSource = {
  /** Its id there; not always ours. */
  readonly id: string
  /** Appended to each name, where a router needs it to keep to the vendor whose price this is. Then aliases are left out. */
  readonly suffix?: string
  /** Names that this provider doesn't serve over chat-completions, or bills by something the list lacks. */
  readonly except?: RegExp
  /** The provider's own names that a rule of the list takes without spelling them, whatever `except` says. */
  readonly alsoNamed?: readonly string[]
  /** Names whose price in the list is that of an older model, and the name in the list that they stand for today. */
  readonly sameAs?: Readonly<Record<string, string>>
}

/** One provider in the second source, which says how long a prompt and an answer may be, and what a model takes. */
export type FactsSource = {
  /** Its lists there; the first that knows a name counts. */
  readonly lists: readonly string[]
  /** Names that only the second source has are sold at its price, save these. Without, none. */
  readonly sellsExcept?: RegExp
  /** What still is served has a context window in one source or the other; the rest is retired, and not sold. */
  readonly knowsAll?: true
}

/** USD per million tokens, as decimal strings with up to 9 decimals; what is left out falls back to its like. */
export type ListPrice = {
  readonly input: string
  readonly output: string
  readonly cacheRead?: string | undefined
  readonly cacheWrite?: string | undefined
  readonly cacheWrite1h?: string | undefined
  readonly inputAudio?: string | undefined
  readonly cacheReadAudio?: string | undefined
  readonly outputAudio?: string | undefined
  /** USD each. */
  readonly fees?:
    | { readonly request?: string | undefined; readonly webSearch?: string | undefined }
    | undefined
}

/** A model priced by hand: in a provider's own file or in the operator's. */
export type PricedModel = {
  /** The model id's part after the provider. */
  readonly name: string
  /** As a person writes it. */
  readonly title: string
  readonly upstreamModel: string
  readonly contextWindow: number | null
  readonly maxOutputTokens: number | null
  readonly reasons: boolean
  /** Whether it takes images, and can call tools; without, nobody says. */
  readonly images?: boolean | undefined
  readonly tools?: boolean | undefined
  readonly description: string | null
  readonly price: ListPrice
}

/** No header where there is no key: a server of one's own may ask for one or not. */
export const bearer = (apiKey: string): Record<string, string> =>
  apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }

/** For servers that take no credential. */
export const anonymous = (): Record<string, string> => ({})
