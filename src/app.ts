import { randomBytes } from 'node:crypto'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance } from 'fastify'
import { type ChatDeps, chatRoute } from './chat/route.ts'
import { sendClientError, sendError, sendNotFound } from './edge/error-response.ts'
import { type Health, healthRoutes } from './edge/health.ts'
import { requireSaneHead, urlLimit } from './edge/request-head.ts'
import { logRequests } from './edge/request-log.ts'
import type { Log } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'

export type AppSettings = {
  trustProxy: boolean | number | string[]
  corsOrigins: '*' | readonly string[]
  requestTimeoutMs: number
  maxConnections: number
}

export type AppDeps = {
  settings: AppSettings
  chat: ChatDeps
  health: Health
  log: Log
  metrics: Metrics
}

const headersLimitBytes = 16 * 1024

/** The whole HTTP surface, not listening. Every public route answers with and without `/v1`. */
export const buildApp = async (deps: AppDeps): Promise<{ app: FastifyInstance }> => {
  const { settings, chat, health, log, metrics } = deps
  const app = Fastify({
    logger: false,
    trustProxy: trusted(settings.trustProxy),
    requestIdHeader: false,
    genReqId: requestIds(),
    requestTimeout: settings.requestTimeoutMs,
    bodyLimit: 64 * 1024,
    routerOptions: { maxParamLength: urlLimit, ignoreTrailingSlash: true },
    // The stop is ours: requests in flight end well, and what comes meanwhile hears 503 `draining`.
    return503OnClosing: false,
    forceCloseConnections: false,
    clientErrorHandler: sendClientError,
    frameworkErrors: sendError,
    http: {
      maxHeaderSize: headersLimitBytes,
      // Node's own refusal has no body; ours is in `requireSaneHead`.
      requireHostHeader: false,
      headersTimeout: settings.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, settings.requestTimeoutMs),
    },
  })
  app.server.maxConnections = settings.maxConnections
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) =>
    sendNotFound(request, reply, methodsAt(app, request.url)),
  )
  logRequests(app, log, metrics)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('cache-control', 'private, no-store')
    done()
  })
  requireSaneHead(app)
  const origins = settings.corsOrigins
  if (origins === '*' || origins.length > 0) {
    await app.register(cors, {
      origin: origins === '*' ? '*' : [...origins],
      exposedHeaders: exposed,
      maxAge: 600,
    })
  }
  healthRoutes(app, health)
  for (const prefix of ['', '/v1']) {
    await app.register(async scope => chatRoute(scope, chat), { prefix })
  }
  return { app }
}

/** A number is how many proxies stand before us. */
const trusted = (proxies: AppSettings['trustProxy']) =>
  typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : proxies

/** What a page of another origin may read of an answer. */
const exposed = ['x-request-id', 'x-generation-id', 'x-max-tokens-capped', 'retry-after']

const methodsAt = (app: FastifyInstance, url: string): string[] => {
  const path = url.split('?', 1)[0] ?? ''
  return (['GET', 'POST'] as const).filter(method => app.findRoute({ url: path, method }) !== null)
}

/** The client's own id where it is sane, so that both sides' logs can be laid side by side; else one of ours. */
const requestIds = () => {
  const prefix = randomBytes(6).toString('hex')
  let count = 0
  return ({ headers }: { headers: Record<string, string | string[] | undefined> }): string => {
    const given = headers['x-request-id']
    if (typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given)) return given
    count++
    return `req-${prefix}-${count.toString(36)}`
  }
}
