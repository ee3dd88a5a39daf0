/** What the client is told when the provider refuses or fails before the first byte; each is asked whole and streamed. */
import type { ScriptInput } from '../../upstream/scripted-upstream.ts'
import { asking, chat, type Row } from './row.ts'

type ProviderRow = Omit<Row, 'provoke'> & { script: ScriptInput }

const error = (fields: Record<string, unknown>): string => JSON.stringify({ error: fields })

const refusals: ProviderRow[] = [
  {
    name: 'a rejected credential is the gateway’s affair',
    code: 'provider_rejected_credentials',
    script: {
      status: 401,
      body: error({ message: 'Incorrect API key provided: sk-ups*****nary' }),
    },
    headers: { 'x-should-retry': 'false' },
    message: /Your API key is not the cause/,
  },
  {
    name: 'a forbidden one too',
    code: 'provider_rejected_credentials',
    script: { status: 403 },
    headers: { 'x-should-retry': 'false' },
  },
  {
    name: 'a rate limit, with its Retry-After',
    code: 'provider_rate_limited',
    script: { status: 429, headers: { 'retry-after': '7' } },
    headers: { 'retry-after': '7' },
  },
  {
    name: 'a spent quota',
    code: 'provider_unavailable',
    script: {
      status: 429,
      body: error({ message: 'You exceeded it', code: 'insufficient_quota' }),
    },
  },
  { name: 'status 500', code: 'provider_error', script: { status: 500 } },
  { name: 'status 502', code: 'provider_error', script: { status: 502, body: '<html>Bad</html>' } },
  { name: 'status 503', code: 'provider_unavailable', script: { status: 503 } },
  { name: 'status 504', code: 'provider_timeout', script: { status: 504 } },
  { name: 'status 529', code: 'provider_unavailable', script: { status: 529 } },
  {
    name: 'a redirect, which is not followed',
    code: 'provider_error',
    script: { status: 307, headers: { location: 'http://127.0.0.1:1/v1/chat/completions' } },
  },
  {
    name: 'status 404 without a word about a model',
    code: 'provider_error',
    script: { status: 404 },
  },
  {
    name: 'status 404 about the model',
    code: 'model_not_found',
    script: { status: 404, body: error({ message: 'The model does not exist' }) },
  },
  {
    name: 'a prompt that is too long',
    code: 'context_length_exceeded',
    script: {
      status: 400,
      body: error({
        message: "This model's maximum context length is 128000 tokens.",
        param: 'messages',
        code: 'context_length_exceeded',
      }),
    },
    param: 'messages',
    message: /128000 tokens/,
  },
  {
    name: 'a filtered prompt',
    code: 'content_policy',
    script: { status: 400, body: error({ message: 'It was flagged.', code: 'content_filter' }) },
  },
  {
    name: 'a parameter that the provider does not take',
    code: 'unsupported_parameter',
    script: {
      status: 400,
      body: error({ message: 'No', param: 'temperature', code: 'unsupported_value' }),
    },
    param: 'temperature',
  },
  {
    name: 'any other complaint, in the provider’s words',
    code: 'invalid_request',
    script: { status: 400, body: error({ message: 'Odd tool name', param: 'tools[0].name' }) },
    param: 'tools[0].name',
    message: /Odd tool name/,
  },
  { name: 'status 413', code: 'request_too_large', script: { status: 413 } },
]

const failures: ProviderRow[] = [
  {
    name: 'an answer that is none',
    code: 'provider_invalid_response',
    script: { garbage: true },
  },
  {
    name: 'an answer of another kind',
    code: 'provider_invalid_response',
    script: { body: '{"object": "list", "data": []}' },
  },
  { name: 'a hang before the head', code: 'provider_timeout', script: { hangBeforeHead: true } },
  { name: 'a hang behind the head', code: 'provider_timeout', script: { silentMs: 2_000 } },
  {
    name: 'a connection cut before the head',
    code: 'provider_error',
    script: { dieBeforeHead: true },
  },
  { name: 'a connection cut behind the head', code: 'provider_error', script: { dieAfter: 0 } },
]

const asked = ({ script, ...row }: ProviderRow, stream: boolean): Row => ({
  ...row,
  name: `${row.name} (${stream ? 'streamed' : 'whole'})`,
  gateway: 'impatient',
  provoke: chat({ messages: asking(script), stream }),
  upstream: 1,
})

const down: Row[] = [false, true].map(stream => ({
  name: `a provider that is down (${stream ? 'streamed' : 'whole'})`,
  code: 'provider_unavailable',
  gateway: 'upstreamDown',
  provoke: chat({ stream }),
}))

export const providerRows: Row[] = [
  ...[...refusals, ...failures].flatMap(row => [asked(row, false), asked(row, true)]),
  ...down,
]
