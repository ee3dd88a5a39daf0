import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GatewayError } from '../errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export type MetricsAccess = {
  /** The operator's; `null` where none is set. */
  metricsToken: string | null
  /** Whether a proxy stands before us: then a loopback address is the proxy's. */
  behindProxy: boolean
}

/** `GET /metrics`: for whoever has the operator's token, or asks from this very machine. */
export const metricsRoute = (
  app: FastifyInstance,
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  { metricsToken, behindProxy }: MetricsAccess,
): void => {
  const expected = metricsToken === null ? null : digest(metricsToken)
  app.get('/metrics', async (request, reply) => {
    if (!hasToken(request, expected) && (behindProxy || !isFromHere(request)))
      throw refusal(request)
    return reply.type(metrics.contentType).send(await metrics.text())
  })
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compared as digests of one length, in constant time. */
const hasToken = ({ headers }: FastifyRequest, expected: Buffer | null): boolean => {
  const given = /^bearer ([^ ]+)$/i.exec(headers.authorization ?? '')?.[1]
  return expected !== null && given !== undefined && timingSafeEqual(digest(given), expected)
}

const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

/** By the socket's own address, never by a header; a request that a proxy has touched comes from elsewhere. */
const isFromHere = ({ raw }: FastifyRequest): boolean =>
  /^(::ffff:)?127\.|^::1$/.test(raw.socket.remoteAddress ?? '') &&
  !proxyHeaders.some(name => name in raw.headers)

const refusal = ({ headers }: FastifyRequest): GatewayError => {
  const challenge = 'Bearer realm="tollgate"'
  return headers.authorization === undefined
    ? new GatewayError('missing_api_key', 'Metrics are for the operator: send METRICS_TOKEN.', {
        headers: { 'www-authenticate': challenge },
      })
    : new GatewayError('invalid_api_key', 'This is not the METRICS_TOKEN of this gateway.', {
        headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
      })
}
