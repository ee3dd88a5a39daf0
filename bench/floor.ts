/**
 * The floor: the least that a proxy in Node costs. `node:http` in, undici's `Pool.dispatch` out, bytes as they come;
 * no authentication, no JSON, no money. Own process: `floor.ts UPSTREAM_URL CONNECTIONS` prints `{"port": N}`.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

const [upstream = '', connections = '512'] = process.argv.slice(2)
const pool = new Pool(upstream, { connections: Number(connections), pipelining: 1 })

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const body = parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts)
    const headers = { 'content-type': 'application/json', authorization: 'Bearer x' }
    pool.dispatch(
      { method: 'POST', path: request.url ?? '/', headers, body },
      {
        onRequestStart: controller => {
          response.once(
            'close',
            () => response.writableFinished || controller.abort(new Error('left')),
          )
          response.on('drain', () => controller.resume())
        },
        onResponseStart: (_, status, head) => void response.writeHead(status, head),
        onResponseData: (controller, bytes) => response.write(bytes) || controller.pause(),
        onResponseEnd: () => void response.end(),
        onResponseError: () => void response.destroy(),
      },
    )
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
})
process.once('SIGTERM', () => process.exit(0))
