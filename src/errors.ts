/**
 * Every failure a client can see, and the one class that carries it. A code that is not in this table does not
 * exist; the table is also what the documentation and the test of refusals are made from.
 */

type CatalogueEntry = {
  status: number
  type: string
  /** `false` is sent as `x-should-retry: false` where SDKs would retry in vain. */
  retry?: false
}

export const errorCatalogue = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  invalid_model_id: { status: 400, type: 'invalid_request_error' },
  unsupported_parameter: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  content_policy: { status: 400, type: 'invalid_request_error' },
  missing_api_key: { status: 401, type: 'authentication_error' },
  malformed_authorization: { status: 401, type: 'authentication_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  api_key_disabled: { status: 401, type: 'authentication_error' },
  api_key_revoked: { status: 401, type: 'authentication_error' },
  api_key_expired: { status: 401, type: 'authentication_error' },
  insufficient_credits: { status: 402, type: 'billing_error' },
  key_limit_reached: { status: 402, type: 'billing_error' },
  model_not_allowed: { status: 403, type: 'permission_error' },
  address_not_allowed: { status: 403, type: 'permission_error' },
  account_suspended: { status: 403, type: 'permission_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  concurrency_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  provider_rate_limited: { status: 429, type: 'rate_limit_error' },
  internal_error: { status: 500, type: 'api_error' },
  provider_error: { status: 502, type: 'upstream_error' },
  // Our credential was refused, not the client's key: no retry by the client can mend that.
  provider_rejected_credentials: { status: 502, type: 'upstream_error', retry: false },
  provider_invalid_response: { status: 502, type: 'upstream_error' },
  provider_unavailable: { status: 503, type: 'upstream_error' },
  overloaded: { status: 503, type: 'api_error' },
  draining: { status: 503, type: 'api_error' },
  ledger_unavailable: { status: 503, type: 'api_error' },
  provider_timeout: { status: 504, type: 'upstream_error' },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof errorCatalogue

/** Figures a program needs to act on an error. Money is a decimal string of USD, times are ISO 8601. */
export type ErrorMetadata = Record<string, string | number | boolean | null | readonly string[]>

type ErrorDetails = {
  /** JSON path of the offending field, such as `messages[2].content`. */
  param?: string
  metadata?: ErrorMetadata
  /** Response headers that belong to this refusal, lower case: `retry-after`, `www-authenticate`, … */
  headers?: Record<string, string>
  /** For the log only; never leaves the process. No secret, no message content. */
  internal?: string
  cause?: unknown
}

/** The shape OpenAI's SDKs read: https://platform.openai.com/docs/guides/error-codes */
export type ErrorBody = {
  error: {
    message: string
    type: string
    param: string | null
    code: ErrorCode
    metadata?: ErrorMetadata
  }
}

/** A failure of the catalogue. `message` is for the client; `internal` and `cause` are for the log. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly param: string | null
  readonly metadata: ErrorMetadata | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly internal: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'GatewayError'
    this.code = code
    this.param = details.param ?? null
    this.metadata = details.metadata
    this.internal = details.internal
    const entry: CatalogueEntry = errorCatalogue[code]
    this.headers =
      entry.retry === false
        ? { 'x-should-retry': 'false', ...details.headers }
        : (details.headers ?? {})
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }

  toBody(): ErrorBody {
    const { message, param, code, metadata } = this
    const error = { message, type: errorCatalogue[code].type, param, code }
    return { error: metadata === undefined ? error : { ...error, metadata } }
  }
}

/** Anything thrown, as a failure of the catalogue: what is not a `GatewayError` is an `internal_error`. */
export const toGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError(
        'internal_error',
        'The gateway failed to handle this request. It was not charged.',
        {
          cause: thrown,
          ...(thrown instanceof Error ? { internal: thrown.message } : {}),
        },
      )
