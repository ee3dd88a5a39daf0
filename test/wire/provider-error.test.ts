import { expect, test } from 'vitest'
import { errorCatalogue } from '../../src/errors.ts'
import {
  type ProviderFailureCode,
  readHttpFailure,
  readInBandFailure,
  sanitiseReason,
} from '../../src/wire/provider-error.ts'
import { bodyText, describeRecorded, type RecordedError, readJson } from '../recordings.ts'

const failure = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  readHttpFailure(status, headers, typeof body === 'string' ? body : JSON.stringify(body))

const rows: [string, number, unknown, ProviderFailureCode][] = [
  ['a refused key', 401, { error: { message: 'no' } }, 'provider_rejected_credentials'],
  ['a forbidden key', 403, 'Forbidden', 'provider_rejected_credentials'],
  ['a flagged prompt', 403, { error: { message: 'Your input was flagged' } }, 'content_policy'],
  [
    'an empty purse there',
    402,
    { error: { message: 'Insufficient Balance' } },
    'provider_unavailable',
  ],
  ['a spent quota there', 429, { error: { code: 'insufficient_quota' } }, 'provider_unavailable'],
  ['too many requests', 429, {}, 'provider_rate_limited'],
  ['a filtered prompt', 400, { error: { code: 'content_filter', message: 'x' } }, 'content_policy'],
  [
    "Azure's filter",
    400,
    { error: { innererror: { code: 'ResponsibleAIPolicyViolation' } } },
    'content_policy',
  ],
  ['a page for 404', 404, '<html>nginx</html>', 'provider_error'],
  ['a removed address', 405, {}, 'provider_error'],
  [
    'a broken field',
    422,
    { detail: [{ loc: ['body', 'top_p'], msg: 'too high' }] },
    'invalid_request',
  ],
  ['too large a body', 413, '', 'request_too_large'],
  ['a request timeout', 408, '', 'provider_timeout'],
  ['a gateway timeout', 504, '<html>', 'provider_timeout'],
  ['an overloaded one', 529, {}, 'provider_unavailable'],
  ['one under repair', 503, {}, 'provider_unavailable'],
  ['a crash', 500, { error: { message: 'stack trace at line 3' } }, 'provider_error'],
  ['a bad gateway', 502, '', 'provider_error'],
  ['a redirect', 302, '', 'provider_error'],
]

test.each(rows)('reads %s', (_, status, body, code) => {
  expect(failure(status, body).code).toBe(code)
})

test("tells the client the provider's reason where the client can mend it", () => {
  const { message, param } = failure(400, {
    error: { message: "Invalid 'top_p'.", param: 'messages[0].role' },
  })
  expect(message).toBe("The provider refused this request: Invalid 'top_p'.")
  expect(param).toBe('messages[0].role')
})

test('keeps from the client what it cannot mend, and from the log what may quote it', () => {
  const error = { message: 'disk /dev/sda is full', type: 'server_error' }
  const { message, internal } = failure(500, { error })
  expect(message).not.toContain('disk')
  expect(internal).toBe('status 500 server_error')
})

test('keeps out of the log what may quote the client', () => {
  const { internal } = failure(400, { error: { message: 'bad text: my diary', code: 'bad' } })
  expect(internal).toBe('status 400 bad')
})

test.each([
  ['seconds', { 'retry-after': '7' }, '7'],
  ['parts of a second, rounded up', { 'retry-after': '0.4' }, '1'],
  ['a date', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ['milliseconds', { 'retry-after-ms': '1500' }, '2'],
  ['a bound', { 'retry-after': '99999999' }, '86400'],
  ['nothing from nonsense', { 'retry-after': 'soon\r\nx: y' }, null],
])('takes retry-after from %s', (_, headers: Record<string, string>, wanted) => {
  expect(failure(429, {}, headers).retryAfter).toBe(wanted)
})

test("takes retry-after from Google's details", () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
  expect(failure(429, [{ error: { code: 429, details } }]).retryAfter).toBe('35')
})

test.each([
  'Incorrect API key provided: sk-proj-abc123def456ghi789.',
  'Your api key: ****-key is invalid',
  'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc for a@b.example',
  'Authorization: Bearer abcdef was refused for org-1a2B3c',
  'AIzaSyA1234567890abcdefghijkl and AKIAABCDEFGHIJKLMNOP',
])('removes what looks like a secret: %s', text => {
  const clean = sanitiseReason(text)
  expect(clean).toContain('[removed]')
  expect(clean).not.toMatch(/abc123|\*\*\*|eyJ|abcdef|1a2B3c|AIza|AKIA|a@b/)
})

test('leaves ordinary words, one line and a bounded length', () => {
  expect(sanitiseReason('Use a x-api-key, say sk-1.\u0000\r\n\u202Eok')).toBe(
    'Use a x-api-key, say sk-1. ok',
  )
  expect(sanitiseReason('word '.repeat(1000)).length).toBeLessThanOrEqual(500)
})

test.each([
  [{ error: { code: 429, message: 'x' } }, 'provider_rate_limited'],
  [{ error: { type: 'overloaded_error' } }, 'provider_unavailable'],
  [{ error: { type: 'invalid_request_error', status_code: 400 } }, 'invalid_request'],
  [{ error: 'broken' }, 'provider_error'],
  [
    { object: 'error', message: 'maximum context length is 5', code: 400 },
    'context_length_exceeded',
  ],
  [{}, 'provider_error'],
  [null, 'provider_error'],
])('reads %j in a stream as %s', (body, code) => {
  expect(readInBandFailure(body).code).toBe(code)
})

/** Provider, its status, our code, how often recorded. */
const recorded = [
  'anthropic 400 context_length_exceeded 1',
  'anthropic 400 invalid_request 11',
  'anthropic 401 provider_rejected_credentials 6',
  'anthropic 404 model_not_found 13',
  'azure 401 provider_rejected_credentials 1',
  'azure 404 model_not_found 1',
  'azure 429 provider_rate_limited 1',
  'bedrock 400 context_length_exceeded 1',
  'bedrock 400 invalid_request 5',
  'bedrock 400 model_not_found 1',
  'bedrock 403 provider_rejected_credentials 1',
  'bedrock 404 model_not_found 1',
  'chatgpt 401 provider_rejected_credentials 1',
  'cohere 400 context_length_exceeded 1',
  'cohere 401 provider_rejected_credentials 1',
  'cohere 404 model_not_found 3',
  'deepseek 400 context_length_exceeded 1',
  'deepseek 400 invalid_request 8',
  'deepseek 400 model_not_found 1',
  'deepseek 401 provider_rejected_credentials 2',
  'doubleword 400 invalid_request 1',
  'doubleword 403 provider_rejected_credentials 1',
  'doubleword 404 model_not_found 1',
  'gemini 400 provider_rejected_credentials 2',
  'gemini 404 model_not_found 6',
  'gemini 429 provider_rate_limited 1',
  'groq 400 invalid_request 2',
  'groq 401 provider_rejected_credentials 1',
  'groq 404 model_not_found 3',
  'llamacpp 400 context_length_exceeded 1',
  'llamacpp 400 invalid_request 3',
  'llamacpp 401 provider_rejected_credentials 1',
  'llamacpp 500 provider_error 4',
  'mistral 400 invalid_request 1',
  'mistral 400 model_not_found 1',
  'mistral 401 provider_rejected_credentials 1',
  'ollama 404 model_not_found 1',
  'ollama-cloud 400 context_length_exceeded 1',
  'ollama-cloud 401 provider_rejected_credentials 1',
  'openai 400 context_length_exceeded 1',
  'openai 400 invalid_request 13',
  'openai 400 model_not_found 6',
  'openai 400 unsupported_parameter 4',
  'openai 401 provider_rejected_credentials 7',
  'openai 404 model_not_found 6',
  'openrouter 400 context_length_exceeded 1',
  'openrouter 400 model_not_found 1',
  'openrouter 401 provider_rejected_credentials 1',
  'openrouter 429 provider_rate_limited 1',
  'perplexity 400 context_length_exceeded 1',
  'perplexity 401 provider_rejected_credentials 1',
  'venice 404 model_not_found 1',
  'vertex 400 context_length_exceeded 1',
  'vertex 400 invalid_request 3',
  'vertex 404 model_not_found 1',
  'xai 400 model_not_found 1',
  'xai 400 provider_rejected_credentials 1',
]

describeRecorded('recorded refusals', () => {
  const errors = readJson('errors/http-errors.json') as RecordedError[]

  test('each leads to the code that its words call for', () => {
    const table = errors.map(error => {
      const read = readHttpFailure(
        error.status,
        error.response_headers,
        bodyText(error.response_body),
      )
      expect(Object.keys(errorCatalogue)).toContain(read.code)
      expect(`${read.message} ${read.internal}`).not.toMatch(/sk-|\*\*\*|user_REDACTED/)
      return `${error.provider} ${error.status} ${read.code}`
    })
    const counts = new Map<string, number>()
    for (const row of table.sort()) counts.set(row, (counts.get(row) ?? 0) + 1)
    expect([...counts].map(([row, count]) => `${row} ${count}`)).toEqual(recorded)
  })
})
