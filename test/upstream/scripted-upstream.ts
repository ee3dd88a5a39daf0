/**
 * An upstream over a real socket that answers as each request asks it to (see `Script`) and keeps its own ledger of
 * what it received and gave: the oracle for money. It knows nothing of the gateway.
 *
 * In process: `await startScriptedUpstream()`. As its own process, for tests that kill the gateway:
 * `npx tsx test/upstream/scripted-upstream.ts [--port N]` prints `{"url": …}`; `GET /__ledger` gives `requests`,
 * `DELETE /__ledger` forgets them.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { answerScripted, type Exchange } from './answer.ts'
import { now, type ReceivedRequest, receivedRequest } from './received-request.ts'
import { readScript, type ScriptInput } from './script.ts'

export type { Exchange } from './answer.ts'
export type { ReceivedRequest } from './received-request.ts'
export { type ScriptInput, script } from './script.ts'

export type ScriptedUpstreamOptions = {
  /** 0, the default, takes a free one. */
  port?: number
  /** What each request's own script is laid over. */
  defaults?: ScriptInput
}

export type ScriptedUpstream = {
  /** `http://127.0.0.1:PORT`, without `/v1`; every path that ends with `/chat/completions` is answered. */
  readonly url: string
  /** In order of arrival, chat completions only. Lives on: entries change while their answers run. */
  readonly requests: ReceivedRequest[]
  /** Answers every request instead of its script, until set back to `null`. */
  answer: ((exchange: Exchange) => void | Promise<void>) | null
  /** The entry of that id. Throws where none arrived or several did: a request must not be dispatched twice. */
  request(id: string): ReceivedRequest
  /** Cuts open connections and stops listening. Idempotent. */
  close(): Promise<void>
}

export const startScriptedUpstream = async (
  options: ScriptedUpstreamOptions = {},
): Promise<ScriptedUpstream> => {
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    handle(request, response, upstream, options).catch((error: unknown) => {
      // A peer that left ends its answer; anything else is a wrong script, and must not look like an answer.
      if (response.closed || response.destroyed) return
      if (!response.headersSent) response.writeHead(500, { 'x-scripted-upstream-error': '1' })
      response.end(String(error))
    })
  })
  await listen(server, options.port ?? 0)
  const upstream: ScriptedUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: null,
    request: id => theOnly(requests, id),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return upstream
}

const theOnly = (requests: readonly ReceivedRequest[], id: string): ReceivedRequest => {
  const [found, ...more] = requests.filter(request => request.id === id)
  if (found === undefined || more.length > 0) {
    throw new Error(
      `upstream received ${more.length + (found ? 1 : 0)} requests with id ${id}, not 1`,
    )
  }
  return found
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })

const handle = async (
  request: IncomingMessage,
  response: ServerResponse,
  upstream: ScriptedUpstream,
  options: ScriptedUpstreamOptions,
): Promise<void> => {
  const path = (request.url ?? '').replace(/\?.*/, '')
  const text = await readBody(request)
  if (path === '/__ledger') return answerLedger(request, response, upstream)
  if (!path.endsWith('/chat/completions')) {
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"error":{"message":"no such path"}}')
    return
  }
  const body = parseJson(text)
  const script = readScript(body, options.defaults)
  const { headers, method = '' } = request
  const id =
    script.id ?? headers['x-request-id']?.toString() ?? String(upstream.requests.length + 1)
  const received = receivedRequest({ id, method, path, headers, body })
  received.promptTokens = script.promptTokens
  upstream.requests.push(received)
  const exchange = { received, response, script, gone: watch(response, received) }
  await (upstream.answer ?? answerScripted)(exchange)
}

/** Writes into the ledger how the exchange ended, and says when the peer has gone. */
const watch = (response: ServerResponse, received: ReceivedRequest): AbortSignal => {
  const gone = new AbortController()
  response.once('close', () => {
    if (received.completedAt === null && received.faultAt === null) received.peerClosedAt = now()
    gone.abort()
  })
  return gone.signal
}

const answerLedger = (
  request: IncomingMessage,
  response: ServerResponse,
  { requests }: ScriptedUpstream,
): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(requests))
  if (request.method === 'DELETE') requests.length = 0
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
  const upstream = await startScriptedUpstream({ port: Number(values.port) })
  process.stdout.write(`${JSON.stringify({ url: upstream.url })}\n`)
  process.once('SIGTERM', () => {
    void upstream.close().then(() => process.exit(0))
  })
}
