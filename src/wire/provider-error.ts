/**
 * What a provider's refusal means to our client. Providers word the same failure in a dozen ways (see the recorded
 * answers that the tests run through here); every dialect shares this reading. It decides code and text, and knows
 * neither our error class nor which provider spoke.
 */

/** Codes of the catalogue that a provider's answer can lead to. */
export type ProviderFailureCode =
  | 'context_length_exceeded'
  | 'content_policy'
  | 'invalid_request'
  | 'model_not_found'
  | 'provider_error'
  | 'provider_rate_limited'
  | 'provider_rejected_credentials'
  | 'provider_timeout'
  | 'provider_unavailable'
  | 'request_too_large'
  | 'unsupported_parameter'

export type ProviderFailure = {
  readonly code: ProviderFailureCode
  /** For the client. The provider's own words appear only where the client can act on them (4xx of ours). */
  readonly message: string
  /** The field that the provider blames, as it names it. */
  readonly param: string | null
  /** Value for a `retry-after` header: whole seconds, or an HTTP date. */
  readonly retryAfter: string | null
  /** For the log: status, the provider's error words, and its sentence where the client is not told it. */
  readonly internal: string
}

/** Lower-case names. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/** What the vendors' error shapes have in common, found wherever each puts it. */
type Reason = {
  message: string
  words: string
  status: number | null
  param: string | null
  retryDelay: string | null
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const maxMessageLength = 500

const secretShapes = [
  /\b(?:sk|pk|rk|gsk|xai|tg|csk|nvapi|hf|r8|fw|tgp|pplx)[-_][\w*-]{6,}/gi,
  /\bAIza[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{8,}/g,
  /\bBearer\s+\S+/gi,
  /\beyJ[\w-]{10,}(?:\.[\w-]*){0,2}/g,
  /\b(?:user|org|proj|acct|account|team|organization|project)[-_][\w-]*\d[\w-]*/gi,
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  /\S*\*{3,}\S*/g,
  /\b[\w-]*(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{40,}/gi,
]

/** Bounded, one line, without control characters or anything that looks like a key, an account or an address. */
export const sanitiseReason = (text: string): string => {
  let clean = text.slice(0, 4 * maxMessageLength).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
  clean = clean.replace(/(api[ _-]?key(?: provided)?(?: is)?\s*[:=]\s*)[^\s,;]+/gi, '$1[removed]')
  for (const shape of secretShapes) clean = clean.replace(shape, '[removed]')
  clean = clean.trim()
  return clean.length <= maxMessageLength ? clean : `${clean.slice(0, maxMessageLength - 1)}…`
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''

const httpStatus = (value: unknown): number | null => {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
    ? status
    : null
}

type Details = { text: string; words: string; retryDelay: string | null }

/** Google's `details` and FastAPI's `detail` are lists whose entries each hold a part of the reason, Anthropic's is one. */
const readDetails = (details: unknown): Details => {
  const found: Details = { text: '', words: '', retryDelay: null }
  if (typeof details === 'string') found.text = details
  if (isRecord(details)) found.words = textOf(details.error_code)
  if (!Array.isArray(details)) return found
  for (const entry of details.slice(0, 16)) {
    if (!isRecord(entry)) continue
    found.words += ` ${textOf(entry.reason)}`
    if (typeof entry.retryDelay === 'string') found.retryDelay = entry.retryDelay
    if (typeof entry.msg === 'string') {
      const path = Array.isArray(entry.loc) ? `${entry.loc.map(textOf).join('.')}: ` : ''
      found.text += `${found.text === '' ? '' : '; '}${path}${entry.msg}`
    }
  }
  return found
}

/**
 * Shapes seen: `{error: {message, type, code, param, status, details}}`, the same in an array (Gemini),
 * `{error: 'text', code}` (xAI, Ollama), `{message, type, code}` (Mistral, Cohere, Bedrock), `{detail}` (Mistral).
 */
const readReason = (body: unknown): Reason => {
  const outer = Array.isArray(body) ? body[0] : body
  if (!isRecord(outer))
    return { message: textOf(outer), words: '', status: null, param: null, retryDelay: null }
  const inner = isRecord(outer.error) ? outer.error : outer
  const details = readDetails(inner.details ?? inner.detail ?? outer.detail)
  const message =
    textOf(inner.message) || textOf(outer.error) || details.text || textOf(outer.message)
  const metadata = isRecord(inner.metadata) ? inner.metadata : {}
  const words = [
    inner.code,
    inner.type,
    inner.status,
    inner.error_type,
    inner.__type,
    outer.code,
    metadata.error_type,
    details.words,
  ]
  if (isRecord(inner.innererror)) words.push(inner.innererror.code)
  return {
    message,
    words: words
      .map(textOf)
      .filter(word => word !== '')
      .join(' '),
    status:
      httpStatus(inner.status_code) ??
      httpStatus(inner.code) ??
      httpStatus(inner.status) ??
      httpStatus(outer.code),
    param:
      typeof inner.param === 'string' && /^[\w.[\]-]{1,200}$/.test(inner.param)
        ? inner.param
        : null,
    retryDelay: details.retryDelay,
  }
}

const badKey =
  /api_key_invalid|invalid_api_key|incorrect api key|invalid api[ -]key|api key (?:is )?(?:not valid|invalid)|unrecognizedclient|incompletesignature|missingauthenticationtoken|expiredtoken/i
const overflow =
  /context[ _-]?(?:length|window|size)|maximum context|max context|prompt (?:is )?too long|too_many_(?:prompt_)?tokens|too many (?:input )?tokens|input is too long|input tokens exceeded|(?:input|prompt) tokens? (?:count )?.{0,40}exceeds|total length of all messages|exceed_context_size|exceed context limit/i
const filtered =
  /content_filter|content_policy|content[ _]management[ _]policy|responsibleai|data_?inspection_?failed|content exists risk|safety system|flagged|moderation_blocked/i
const unknownModel =
  /model_not_found|invalid_model|unknown_model|deploymentnotfound|model.{0,200}(?:does not exist|not found|is not a valid model|has been deprecated)|not a valid model|invalid model\b|supported api model names|model identifier is invalid|model not found/i
const unsupported = /unsupported_(?:parameter|value)/i
const noQuota =
  /insufficient_quota|insufficient_balance|insufficient balance|enforced_spend_limit|billing_error|credit balance is too low/i

/** From the words, for statuses whose meaning the words decide. `null`: the status says it all. */
const codeOfWords = (text: string): ProviderFailureCode | null => {
  if (badKey.test(text)) return 'provider_rejected_credentials'
  if (overflow.test(text)) return 'context_length_exceeded'
  if (filtered.test(text)) return 'content_policy'
  if (unknownModel.test(text)) return 'model_not_found'
  return unsupported.test(text) ? 'unsupported_parameter' : null
}

const codeOf = (status: number, { words, message }: Reason): ProviderFailureCode => {
  const text = `${words} ${message}`
  switch (status) {
    case 400:
    case 422:
      return noQuota.test(text) ? 'provider_unavailable' : (codeOfWords(text) ?? 'invalid_request')
    case 401:
    // Cohere's, for a blocked or broken token.
    case 498:
      return 'provider_rejected_credentials'
    case 403:
      return filtered.test(text) ? 'content_policy' : 'provider_rejected_credentials'
    case 402:
      return 'provider_unavailable'
    case 404:
      // Without a word about a model it is the address that is wrong, which is the operator's to mend.
      return /model|deployment|not_found_error/i.test(text) ? 'model_not_found' : 'provider_error'
    case 408:
    case 504:
      return 'provider_timeout'
    case 413:
      return overflow.test(text) ? 'context_length_exceeded' : 'request_too_large'
    case 429:
      if (/context_length|maximum context/i.test(text)) return 'context_length_exceeded'
      return noQuota.test(text) ? 'provider_unavailable' : 'provider_rate_limited'
    case 503:
    case 529:
      return 'provider_unavailable'
    default:
      return 'provider_error'
  }
}

/** A mid-stream error has no status line: its own `code`, else its words, stand for one. */
const statusOfWords = (words: string): number => {
  if (/rate_?limit|insufficient_quota|too_many_requests|resource_exhausted|throttling/i.test(words))
    return 429
  if (/overloaded|unavailable|service_unavailable/i.test(words)) return 503
  if (/timeout|timed_out|deadline_exceeded/i.test(words)) return 504
  if (/authentication|permission|accessdenied|unrecognizedclient/i.test(words)) return 401
  return /invalid_request|invalid_argument|bad_request|validation/i.test(words) ? 400 : 500
}

const wordings: { readonly [K in ProviderFailureCode]: string } = {
  context_length_exceeded: 'The request is longer than the context window of this model.',
  content_policy: 'The provider refused this request under its content policy.',
  invalid_request: 'The provider refused this request.',
  model_not_found: 'The provider does not serve this model.',
  provider_error: 'The provider failed to answer this request.',
  provider_rate_limited: 'The provider is limiting requests to this model. Try again later.',
  provider_rejected_credentials:
    "The provider refused this gateway's credential. Your API key is not the cause.",
  provider_timeout: 'The provider took too long to answer.',
  provider_unavailable: 'The provider is not available at the moment. Try again later.',
  request_too_large: 'The request is larger than the provider takes.',
  unsupported_parameter: 'The provider does not support a parameter of this request.',
}

/** The client can mend these, so it is told the provider's own reason. */
const actionable: ReadonlySet<ProviderFailureCode> = new Set([
  'context_length_exceeded',
  'content_policy',
  'invalid_request',
  'unsupported_parameter',
])

const failureOf = (
  code: ProviderFailureCode,
  status: number,
  reason: Reason,
  retryAfter: string | null,
): ProviderFailure => {
  const told = actionable.has(code)
  const words = sanitiseReason(reason.message)
  const own = wordings[code]
  // A provider's sentence may quote what the client wrote; the log has its codes, which can't.
  const logged = sanitiseReason(reason.words)
  return {
    code,
    message: told && words !== '' ? `${own.slice(0, -1)}: ${words}` : own,
    param: told ? reason.param : null,
    retryAfter,
    internal: `status ${status} ${logged}`.trimEnd(),
  }
}

const header = (headers: ResponseHeaders, name: string): string | null => {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? null
}

const maxRetrySeconds = 86_400

const wholeSeconds = (seconds: number): string | null =>
  Number.isFinite(seconds) && seconds >= 0
    ? String(Math.min(Math.ceil(seconds), maxRetrySeconds))
    : null

/** From `retry-after` (seconds or a date), `retry-after-ms`, or Google's `retryDelay` ("34.4s"), in this order. */
const readRetryAfter = (headers: ResponseHeaders, reason: Reason): string | null => {
  const plain = header(headers, 'retry-after')
  if (plain !== null && /^\d+(\.\d+)?$/.test(plain)) return wholeSeconds(Number(plain))
  if (
    plain !== null &&
    /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(plain)
  )
    return plain
  const ms = header(headers, 'retry-after-ms')
  if (ms !== null && /^\d+(\.\d+)?$/.test(ms)) return wholeSeconds(Number(ms) / 1000)
  const delay = /^(\d+(?:\.\d+)?)s$/.exec(reason.retryDelay ?? '')
  return delay === null ? null : wholeSeconds(Number(delay[1]))
}

/** A body that is not JSON (a proxy's page, a stray line) is not the provider's reason: it stands for nothing. */
const parseBody = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

/** A non-2xx answer of a provider. `body` is as received; `headers` are lower case. Never throws. */
export const readHttpFailure = (
  status: number,
  headers: ResponseHeaders,
  body: string,
): ProviderFailure => {
  const reason = readReason(parseBody(body))
  reason.words += ` ${(header(headers, 'x-amzn-errortype') ?? '').split(':')[0]}`
  return failureOf(codeOf(status, reason), status, reason, readRetryAfter(headers, reason))
}

/** An error object inside a 2xx answer: `body` is the parsed event or answer that holds it. Never throws. */
export const readInBandFailure = (body: unknown): ProviderFailure => {
  const reason = readReason(body)
  const status = reason.status ?? statusOfWords(reason.words)
  return failureOf(codeOf(status, reason), status, reason, readRetryAfter({}, reason))
}
