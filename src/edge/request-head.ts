import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { GatewayError } from '../errors.ts'

/** In characters, the query included. */
export const urlLimit = 8 * 1024

/** Headers that decide where a request goes and who pays: of two, a proxy before us may have read the other. */
const single = ['host', 'authorization']

/**
 * Refuses what Node's HTTP parser lets pass: `request_too_large` for a URL, `invalid_request` for a missing or doubled
 * Host (RFC 9112, section 3.2) and for a doubled Authorization.
 */
export const requireSaneHead = (app: FastifyInstance): void => {
  app.addHook('onRequest', ({ raw }, _reply, done) => done(refusalOf(raw)))
}

const refusalOf = ({ url = '', rawHeaders, headers, httpVersion }: IncomingMessage) => {
  if (url.length > urlLimit)
    return new GatewayError(
      'request_too_large',
      `The URL is longer than ${urlLimit / 1024} KiB; send what is large in the body.`,
      { metadata: { limit_bytes: urlLimit } },
    )
  if (headers.host === undefined && httpVersion === '1.1')
    return new GatewayError('invalid_request', 'The request has no Host header.')
  for (const name of single) {
    if (timesIn(rawHeaders, name) > 1)
      return new GatewayError('invalid_request', `The header ${name} stands there twice.`)
  }
  return undefined
}

/** `rawHeaders` has names and values in turns. */
const timesIn = (rawHeaders: readonly string[], name: string): number => {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]
    if (given?.length === name.length && given.toLowerCase() === name) times++
  }
  return times
}
