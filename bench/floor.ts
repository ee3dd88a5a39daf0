/**
 * The floor: the least that a proxy in Node costs. `node:http` in, undici's `Pool.dispatch` out, bytes as they come;
 * no authentication, no JSON, no money. Own process: `floor.ts UPSTREAM_URL CONNECTIONS` prints `{"port": N}`.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dispatcher, Pool } from 'undici'

const [upstream = '', connections = ''] = process.argv.slice(2)
const pool = new Pool(upstream, { connections: Number(connections), pipelining: 1 })
const headers = { 'content-type': 'application/json', authorization: 'Bearer x' }

class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  constructor(response: ServerResponse) {
    this.#response = response
  }
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const response = this.#response
    response.once('close', () => response.writableFinished || controller.abort(new Error('left')))
    response.on('drain', () => controller.resume())
  }
  onResponseStart(_: unknown, status: number, head: Record<string, string | string[]>): void {
    this.#response.writeHead(status, head)
  }
  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (!this.#response.write(bytes)) controller.pause()
  }
  onResponseEnd(): void {
    this.#response.end()
  }
  onResponseError(): void {
    this.#response.destroy()
  }
}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const body = Buffer.concat(parts)
    const path = request.url ?? '/'
    pool.dispatch({ method: 'POST', path, headers, body }, new Relay(response))
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
})
process.once('SIGTERM', () => process.exit(0))
