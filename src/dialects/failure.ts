/** Failures that every dialect can raise, worded once. */
import { GatewayError } from '../errors.ts'
import { type ProviderFailure, readHttpFailure, readInBandFailure } from '../wire/provider-error.ts'
import type { Dialect } from './dialect.ts'

const toError = ({ code, message, param, retryAfter, internal }: ProviderFailure): GatewayError =>
  new GatewayError(code, message, {
    internal,
    ...(param === null ? {} : { param }),
    ...(retryAfter === null ? {} : { headers: { 'retry-after': retryAfter } }),
  })

/** A non-2xx answer as a failure of the catalogue. */
export const httpFailure: Dialect['parseError'] = (status, headers, body) =>
  toError(readHttpFailure(status, headers, body))

/** An error object inside a 2xx answer or a stream; `body` is parsed. */
export const inBandFailure = (body: unknown): GatewayError => toError(readInBandFailure(body))

/** The upstream's bytes are not what its format says. */
export const invalidResponse = (internal: string): GatewayError =>
  new GatewayError(
    'provider_invalid_response',
    'The provider sent an answer that this gateway does not understand.',
    { internal },
  )

export const brokenOff = (): GatewayError =>
  new GatewayError('provider_invalid_response', "The provider's answer broke off.", {
    internal: 'the stream ended without its own end',
  })

/** The format can't honour a field that changes the answer. */
export const unsupported = (param: string, message: string): GatewayError =>
  new GatewayError('unsupported_parameter', message, { param })
