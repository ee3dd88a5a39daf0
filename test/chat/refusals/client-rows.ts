/** Refusals that the client's request or key causes. */
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { mintKey } from '../../../src/accounts/api-key.ts'
import { parseReply, sendRaw } from '../../raw-socket.ts'
import { asking, chat, hello, type Row, rawChat, toReply } from './row.ts'

const realm = 'Bearer realm="tollgate"'
const invalidToken = { 'www-authenticate': `${realm}, error="invalid_token"` }

/** A key whose checksum is right, but which nobody has. */
const unknownKey = () => mintKey(size => randomBytes(size))

const withHeader = (name: string, authorization: string, code: Row['code']): Row => ({
  name,
  code,
  provoke: rawChat({ authorization }),
  headers: invalidToken,
})

const authentication: Row[] = [
  {
    name: 'no Authorization header',
    code: 'missing_api_key',
    provoke: rawChat({ authorization: null }),
    headers: { 'www-authenticate': realm },
  },
  {
    name: 'an empty Authorization header',
    code: 'missing_api_key',
    provoke: rawChat({ authorization: '' }),
    headers: { 'www-authenticate': realm },
  },
  {
    name: 'the key in the query',
    code: 'missing_api_key',
    provoke: at =>
      rawChat({
        line: `POST /v1/chat/completions?api_key=${at.key} HTTP/1.1`,
        authorization: null,
      })(at),
    headers: { 'www-authenticate': realm },
  },
  withHeader('another scheme', 'Basic KEY', 'malformed_authorization'),
  withHeader('no scheme', 'KEY', 'malformed_authorization'),
  withHeader('a scheme without a key', 'Bearer', 'malformed_authorization'),
  withHeader('two blanks before the key', 'Bearer  KEY', 'malformed_authorization'),
  withHeader('a tab before the key', 'Bearer\tKEY', 'malformed_authorization'),
  withHeader('a word behind the key', 'Bearer KEY more', 'malformed_authorization'),
  withHeader('two credentials', 'Bearer KEY, Bearer KEY', 'malformed_authorization'),
  withHeader('a tab inside the key', 'Bearer tg_\tKEY', 'invalid_api_key'),
  withHeader('an escaped line break in the key', 'Bearer KEY%0A', 'invalid_api_key'),
  withHeader('an escaped line break before the key', 'Bearer %0AKEY', 'invalid_api_key'),
  withHeader('a literal \\n behind the key', 'Bearer KEY\\n', 'invalid_api_key'),
  withHeader('quotes around the key', 'Bearer "KEY"', 'invalid_api_key'),
  withHeader('a letter outside ASCII in the key', 'Bearer KEY\u00e9', 'invalid_api_key'),
  {
    name: 'a wrong checksum',
    code: 'invalid_api_key',
    provoke: at => {
      const last = at.key.endsWith('0') ? '1' : '0'
      return rawChat({ authorization: `Bearer ${at.key.slice(0, -1)}${last}` })(at)
    },
    headers: invalidToken,
  },
  {
    name: 'an unknown key',
    code: 'invalid_api_key',
    provoke: rawChat({ authorization: `Bearer ${unknownKey()}` }),
    headers: invalidToken,
  },
  {
    name: 'a disabled key',
    code: 'api_key_disabled',
    provoke: async at => {
      const { keyRing } = at.gateway.books
      await keyRing.disable(at.keyId)
      const reply = await chat({})(at)
      await keyRing.enable(at.keyId)
      return reply
    },
    message: /disabled on \d{4}-\d\d-\d\d/,
    headers: invalidToken,
  },
  {
    name: 'a revoked key',
    code: 'api_key_revoked',
    provoke: async at => {
      const { keyRing } = at.gateway.books
      const { id, key } = await keyRing.create({ accountId: at.accountId, name: 'Revoked' })
      await keyRing.revoke(id)
      return rawChat({ authorization: `Bearer ${key}` })(at)
    },
    message: /revoked on \d{4}-\d\d-\d\d/,
    headers: invalidToken,
  },
  {
    name: 'a suspended account',
    code: 'account_suspended',
    provoke: async at => {
      const { accounts } = at.gateway.books
      await accounts.suspend(at.accountId)
      const reply = await chat({})(at)
      await accounts.resume(at.accountId)
      return reply
    },
  },
]

const jsonHeaders = (length: number) =>
  [
    ['content-type', 'application/json'],
    ['content-length', String(length)],
  ] as const

const http: Row[] = [
  {
    name: 'an unknown path',
    code: 'not_found',
    provoke: async at => toReply(await fetch(`${at.url}/v1/nothing`)),
    message: /\/v1\/nothing/,
  },
  {
    name: 'an unknown path with a body',
    code: 'not_found',
    provoke: rawChat({ line: 'POST /v2/chat/completions HTTP/1.1' }),
  },
  {
    name: 'a wrong method',
    code: 'method_not_allowed',
    provoke: async at => toReply(await fetch(`${at.url}/v1/chat/completions`)),
    headers: { allow: 'POST' },
  },
  {
    name: 'a body that stops arriving',
    code: 'request_timeout',
    gateway: 'impatient',
    provoke: rawChat({ headers: jsonHeaders(1_000), body: '{"model":' }),
  },
  {
    name: 'a head that stops arriving',
    code: 'request_timeout',
    gateway: 'impatient',
    provoke: async at =>
      parseReply(await sendRaw(at.url, ['POST /v1/chat/completions HTTP/1.1\r\nHo'])),
  },
  {
    name: 'a body over the limit, announced',
    code: 'request_too_large',
    gateway: 'small',
    provoke: chat({ messages: [{ role: 'user', content: 'x'.repeat(2_000) }] }),
    metadata: { limit_bytes: 1024 },
  },
  {
    name: 'a body over the limit, in chunks',
    code: 'request_too_large',
    gateway: 'small',
    provoke: rawChat({
      headers: [
        ['content-type', 'application/json'],
        ['transfer-encoding', 'chunked'],
      ],
      body: `500\r\n${'x'.repeat(0x500)}\r\n0\r\n\r\n`,
    }),
    metadata: { limit_bytes: 1024 },
  },
  {
    name: 'headers over 16 KiB',
    code: 'request_too_large',
    provoke: rawChat({ headers: [...jsonHeaders(0), ['x-large', 'x'.repeat(17_000)]] }),
  },
  {
    name: 'a URL over 8 KiB',
    code: 'request_too_large',
    provoke: rawChat({ line: `POST /v1/chat/completions?${'x'.repeat(8 * 1024)} HTTP/1.1` }),
  },
  {
    name: 'two Authorization headers',
    code: 'invalid_request',
    provoke: rawChat({ headers: [['authorization', 'Bearer other'], ...jsonHeaders(0)], body: '' }),
  },
  {
    name: 'another media type',
    code: 'unsupported_media_type',
    provoke: chat({}, { headers: { 'content-type': 'text/plain' } }),
  },
  {
    name: 'no media type',
    code: 'unsupported_media_type',
    provoke: rawChat({ headers: [['content-length', '2']], body: '{}' }),
  },
  {
    name: 'a body that is not JSON',
    code: 'invalid_request',
    provoke: rawChat({ body: '{"model":' }),
  },
  {
    name: 'a request that is not HTTP',
    code: 'invalid_request',
    provoke: async at => parseReply(await sendRaw(at.url, ['what is this\r\n\r\n'])),
  },
]

const request: Row[] = [
  {
    name: 'no messages',
    code: 'invalid_request',
    param: 'messages',
    provoke: chat({ messages: [] }),
  },
  {
    name: 'a model id without a provider',
    code: 'invalid_model_id',
    param: 'model',
    provoke: chat({ model: 'gpt-4o-mini' }),
    message: /<provider>\/<model_name>/,
  },
  {
    name: 'a model that is not there, with the nearest names',
    code: 'model_not_found',
    param: 'model',
    provoke: chat({ model: 'openai/gpt-4o-minni' }),
    message: /Did you mean openai\/gpt-4o-mini/,
  },
  {
    name: 'a model whose provider has no credential, like one that is not there',
    code: 'model_not_found',
    param: 'model',
    provoke: chat({ model: 'groq/llama-3.3-70b-versatile' }),
    message: /^There is no model/,
  },
  {
    name: 'a service tier that has no price here',
    code: 'unsupported_parameter',
    param: 'service_tier',
    provoke: chat({ service_tier: 'priority' }),
  },
  {
    name: "a provider's own tool",
    code: 'unsupported_parameter',
    param: 'tools[1].type',
    provoke: chat({ tools: [{ type: 'function' }, { type: 'web_search' }] }),
  },
  ...Object.entries({
    web_search_options: {},
    plugins: [{ id: 'web' }],
    preset: 'researcher',
    search_parameters: { mode: 'on' },
    search_context_size: 'high',
    enable_search: true,
    search_options: { forced_search: true },
  }).map(
    ([field, value]): Row => ({
      name: `${field}, which costs extra at a provider`,
      code: 'unsupported_parameter',
      param: field,
      provoke: chat({ [field]: value }),
    }),
  ),
]

/** Occupies the gateway with one hanging stream while `row` asks. */
const whileBusy =
  (id: string): Row['provoke'] =>
  async at => {
    const leave = new AbortController()
    const busy = at.chat(
      { messages: asking({ id, hangAfter: 0 }), stream: true },
      { signal: leave.signal },
    )
    busy.catch(() => {})
    while (!at.upstream.requests.some(request => request.id === id))
      await new Promise(resolve => setTimeout(resolve, 10))
    const reply = await chat({})(at)
    leave.abort()
    return reply
  }

const limits: Row[] = [
  {
    name: 'more requests at once than the key may have',
    code: 'concurrency_limit_exceeded',
    gateway: 'oneAtATime',
    provoke: whileBusy('busy-key'),
    headers: {
      'retry-after': '1',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1',
    },
    metadata: { limit: 1 },
    upstream: 1,
  },
  {
    name: 'more requests at once than the gateway serves',
    code: 'overloaded',
    gateway: 'full',
    provoke: whileBusy('busy-gateway'),
    headers: { 'retry-after': '1' },
    upstream: 1,
  },
  {
    name: 'more tokens than the balance pays for',
    code: 'insufficient_credits',
    gateway: 'topUp',
    // 128 choices of 16,384 tokens at $0.60 a million are $1.26, and a little for the input; $1 is there.
    provoke: chat({ n: 128, max_tokens: 16_384, messages: hello }),
    metadata: {
      balance: '1',
      held: '0',
      required: expect.stringMatching(/^1\.258\d+$/),
      affordable_max_tokens: 13_020,
      top_up_url: 'https://example.com/top-up',
    },
  },
]

export const clientRows: Row[] = [...authentication, ...http, ...request, ...limits]
