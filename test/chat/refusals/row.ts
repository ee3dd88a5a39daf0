/** What a row of the catalogue of refusals says, and the gateways that rows are provoked at. */
import type { ErrorCode } from '../../../src/errors.ts'
import type { TestGateway } from '../../harness.ts'
import { head, parseReply, type RawReply, sendRaw } from '../../raw-socket.ts'
import { type ScriptInput, script } from '../../upstream/scripted-upstream.ts'

/** Settings of the gateways, each started once. */
export const gateways = {
  plain: {},
  impatient: {
    REQUEST_TIMEOUT: '500ms',
    UPSTREAM_FIRST_BYTE_TIMEOUT: '300ms',
    UPSTREAM_WHOLE_TIMEOUT: '300ms',
    UPSTREAM_IDLE_TIMEOUT: '300ms',
  },
  small: { BODY_LIMIT: '1KiB' },
  oneAtATime: { MAX_CONCURRENT_REQUESTS_PER_KEY: '1' },
  full: { MAX_CONCURRENT_REQUESTS: '1' },
  upstreamDown: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
  topUp: { TOP_UP_URL: 'https://example.com/top-up' },
} as const

export type Row = {
  name: string
  code: ErrorCode
  /** Sends the request over a socket and gives the answer. */
  provoke: (at: TestGateway) => Promise<RawReply>
  /** Default: `plain`. */
  gateway?: keyof typeof gateways
  param?: string
  message?: RegExp
  headers?: Record<string, string>
  metadata?: Record<string, unknown>
  /** Requests that the provocation sends upstream; default 0: nothing. */
  upstream?: number
}

export const hello = [{ role: 'user', content: 'hello' }]

/** The user message that makes the scripted upstream answer so. */
export const asking = (wanted: ScriptInput) => [{ role: 'user', content: script(wanted) }]

export const toReply = async (response: Response): Promise<RawReply> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  text: await response.text(),
})

/** A chat completion with the test's key. */
export const chat =
  (body: Record<string, unknown>, init: RequestInit = {}) =>
  async (at: TestGateway): Promise<RawReply> =>
    toReply(await at.chat({ messages: hello, ...body }, init))

type RawChat = {
  line?: string
  /** `null` leaves the header out; `KEY` stands for the test's key. */
  authorization?: string | null
  headers?: readonly (readonly [string, string])[]
  body?: string
}

/** The same, byte for byte as given. */
export const rawChat =
  ({
    line = 'POST /v1/chat/completions HTTP/1.1',
    authorization = 'Bearer KEY',
    ...rest
  }: RawChat) =>
  async (at: TestGateway): Promise<RawReply> => {
    const body = rest.body ?? JSON.stringify({ model: 'openai/gpt-4o-mini', messages: hello })
    const credential =
      authorization === null
        ? []
        : [['authorization', authorization.replace('KEY', at.key)] as const]
    const headers = [
      ['host', 'localhost'],
      ['connection', 'close'],
      ...credential,
      ...(rest.headers ?? [
        ['content-type', 'application/json'],
        ['content-length', String(Buffer.byteLength(body))],
      ]),
    ] as const
    return parseReply(await sendRaw(at.url, [head(line, headers), body]))
  }
