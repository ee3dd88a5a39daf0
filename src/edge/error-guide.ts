import { type ErrorCode, type ErrorMetadata, errorCatalogue } from '../errors.ts'

export type ErrorAdvice = {
  /** What happened and what to do, in Markdown. */
  meaning: string
  /** What `metadata` may hold. */
  metadata?: ErrorMetadata
  /** The same request, sent again after a while, may succeed. */
  passes: boolean
}

const once = (meaning: string, metadata?: ErrorMetadata): ErrorAdvice => ({
  meaning,
  passes: false,
  ...(metadata === undefined ? {} : { metadata }),
})
const passing = (meaning: string, metadata?: ErrorMetadata): ErrorAdvice => ({
  ...once(meaning, metadata),
  passes: true,
})

/** What each code of the catalogue means to whoever gets it. */
export const errorGuide: { readonly [K in ErrorCode]: ErrorAdvice } = {
  invalid_request: once('A field is missing or wrong; `param` names it.'),
  invalid_model_id: once('`model` does not read `<provider>/<model_name>`.'),
  unsupported_parameter: once(
    'The provider of this model can’t honour `param`, or it would change the price in a way that is not priced here.',
  ),
  context_length_exceeded: once('The messages and the answer do not fit into the model.'),
  content_policy: once('The provider refuses this content.'),
  missing_api_key: once('Send `Authorization: Bearer <API_KEY>`.'),
  malformed_authorization: once('The header reads `Bearer`, one space, the key, nothing else.'),
  invalid_api_key: once('No such key. Check that it was copied whole.'),
  api_key_disabled: once('The key was switched off; it can be switched on again.'),
  api_key_revoked: once('The key was revoked for good. Use another.'),
  api_key_expired: once('The key is past its date. Use another.'),
  insufficient_credits: once(
    'The balance does not cover what the request can cost at most. Top up, or ask for fewer tokens. Nothing was sent to the provider.',
    { balance: '0.0021', held: '0', required: '0.0164', affordable_max_tokens: 512 },
  ),
  key_limit_reached: once('This key has spent its own limit; the account may have more.', {
    limit: '10',
    used: '9.998',
    resets_at: '2026-12-01T00:00:00.000Z',
  }),
  model_not_allowed: once('This key may not use this model.'),
  address_not_allowed: once('This key may not be used from your address.'),
  account_suspended: once('The account is suspended. Ask the operator.'),
  model_not_found: once('No such model here; `metadata.nearest` has names that are close.', {
    nearest: ['acme/large', 'acme/large-mini'],
  }),
  not_found: once('There is nothing at this address.'),
  method_not_allowed: once('The header `Allow` says which methods this address takes.'),
  request_timeout: passing('The request took too long to arrive.'),
  request_too_large: once('The body or the headers are too large.', { limit_bytes: 10_485_760 }),
  unsupported_media_type: once('Send `Content-Type: application/json`.'),
  rate_limit_exceeded: passing('Too many requests or tokens per minute. Wait for `Retry-After`.'),
  concurrency_limit_exceeded: passing('Too many requests of this key at once.', { limit: 1000 }),
  provider_rate_limited: passing('The provider takes no more for now. Wait for `Retry-After`.'),
  internal_error: passing('The gateway failed. The request was not charged.'),
  provider_error: passing('The provider failed, or the answer broke off.'),
  provider_rejected_credentials: once(
    'The provider refuses the gateway’s own credential. Your key is fine; tell the operator.',
  ),
  provider_invalid_response: passing('The provider’s answer could not be read.'),
  provider_unavailable: passing('The provider can’t be reached.'),
  overloaded: passing('The gateway serves as many requests as it can. Wait for `Retry-After`.'),
  draining: passing('This gateway is stopping. Send the request again.'),
  ledger_unavailable: passing(
    'Charges can’t be made durable at the moment, so nothing is sent to a provider.',
  ),
  provider_timeout: passing('The provider took too long.'),
}

/** In the order of the catalogue. */
export const errorCodes: readonly ErrorCode[] = [
  // `as`: the keys of a constant are known.
  ...(Object.keys(errorCatalogue) as ErrorCode[]),
]
