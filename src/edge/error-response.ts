import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorCatalogue, GatewayError, toGatewayError } from '../errors.ts'

/** The one place that turns an error into a response. */
export const sendError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
  const error = fromFastify(thrown)
  request.failure = error
  void reply.code(error.status).headers(error.headers).send(error.toBody())
}

/** What the framework refuses before a handler sees it, in the words of the catalogue. */
const fromFastify = (thrown: unknown): GatewayError => {
  if (thrown instanceof GatewayError) return thrown
  // `as`: anything may be thrown; only these two fields are looked at.
  const { code, statusCode } = (thrown ?? {}) as Partial<FastifyError>
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new GatewayError('request_too_large', 'The request body is too large.')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new GatewayError('unsupported_media_type', 'This content type is not taken here.')
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new GatewayError('invalid_request', 'The request is not valid HTTP for this route.', {
      cause: thrown,
    })
  }
  return toGatewayError(thrown)
}

/** Also tells a wrong method on a known path from an unknown path. */
export const sendNotFound = (
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: string[],
): void => {
  const path = request.url.split('?', 1)[0] ?? ''
  const error =
    allowed.length > 0
      ? new GatewayError('method_not_allowed', `${path} takes ${allowed.join(', ')}.`, {
          headers: { allow: allowed.join(', ') },
        })
      : new GatewayError('not_found', `There is nothing at ${path.slice(0, 256)}.`)
  sendError(error, request, reply)
}

/**
 * What Node's HTTP parser refuses never becomes a request; it is answered on the bare socket, in the same shape.
 * Codes: https://nodejs.org/docs/latest-v20.x/api/http.html#event-clienterror
 */
export const sendClientError = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [code, message] = parserErrors[error.code ?? ''] ?? [
    'invalid_request',
    'The request is not valid HTTP/1.1.',
  ]
  const { status } = errorCatalogue[code]
  const body = JSON.stringify(new GatewayError(code, message).toBody())
  socket.end(
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Bad Request'}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: private, no-store\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** An `Expect` other than `100-continue`; Node would refuse it without a body. */
export const sendExpectationError = (_request: IncomingMessage, response: ServerResponse): void => {
  const error = new GatewayError('invalid_request', 'Of Expect only 100-continue is known here.')
  const body = JSON.stringify(error.toBody())
  response.writeHead(error.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'private, no-store',
    connection: 'close',
  })
  response.end(body)
}

const parserErrors: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: [
    'request_too_large',
    'The request line and headers are larger than 16 KiB.',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['request_too_large', 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive.'],
}

const reasons: Record<number, string> = { 408: 'Request Timeout', 413: 'Content Too Large' }

declare module 'fastify' {
  interface FastifyRequest {
    /** What it was refused or failed with; read by the request log. */
    failure: GatewayError | null
  }
}
