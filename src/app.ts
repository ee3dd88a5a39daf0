import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { accountOperations, accountRoutes } from './account-api/routes.ts'
import { createChatCompletion } from './chat/operation.ts'
import { type ChatDeps, chatRoute } from './chat/route.ts'
import { docsRoutes } from './edge/docs.ts'
import {
  sendClientError,
  sendError,
  sendExpectationError,
  sendNotFound,
} from './edge/error-response.ts'
import { type Health, healthRoutes } from './edge/health.ts'
import { metricsRoute } from './edge/metrics-route.ts'
import { edgeOperations } from './edge/operations.ts'
import { requireSaneHead, urlLimit } from './edge/request-head.ts'
import { logRequests } from './edge/request-log.ts'
import type { History } from './ledger/history.ts'
import type { Log } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'

export type App = FastifyInstance

export type AppSettings = {
  trustProxy: boolean | number | string[]
  corsOrigins: '*' | readonly string[]
  requestTimeoutMs: number
  maxConnections: number
  metricsToken: string | null
  publicUrl: string | null
}

export type AppDeps = {
  settings: AppSettings
  chat: ChatDeps
  history: History
  health: Health
  log: Log
  metrics: Metrics
}

const headersLimitBytes = 16 * 1024

/** The whole HTTP surface, not listening. Every public route answers with and without `/v1`. */
export const buildApp = async (deps: AppDeps): Promise<{ app: FastifyInstance }> => {
  const { settings, chat, history, health, log, metrics } = deps
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
    // A URL that can't be decoded: no hook runs for it.
    frameworkErrors: (error, request, reply) => {
      stamp(request, reply)
      sendError(error, request, reply)
    },
    http: {
      maxHeaderSize: headersLimitBytes,
      // Node's own refusal has no body; ours is in `requireSaneHead`.
      requireHostHeader: false,
      headersTimeout: settings.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, settings.requestTimeoutMs),
    },
  })
  app.server.maxConnections = settings.maxConnections
  app.server.on('checkExpectation', sendExpectationError)
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) =>
    sendNotFound(request, reply, methodsAt(app, request.url)),
  )
  logRequests(app, log, metrics)
  app.addHook('onRequest', (request, reply, done) => {
    stamp(request, reply)
    done()
  })
  requireSaneHead(app)
  const origins = settings.corsOrigins
  if (origins === '*' || origins.length > 0) {
    await app.register(cors, {
      origin: origins === '*' ? '*' : [...origins],
      exposedHeaders: exposed,
      // Its refusal of an OPTIONS that is no preflight would be plain text.
      strictPreflight: false,
      maxAge: 600,
    })
  }
  const publicRoutes = [
    (scope: FastifyInstance) => healthRoutes(scope, health),
    (scope: FastifyInstance) => metricsRoute(scope, metrics, metricsAccess(settings)),
    (scope: FastifyInstance) => chatRoute(scope, chat),
    accountRoutes({ ...chat, history }),
    docsRoutes({ operations, version, publicUrl: settings.publicUrl }),
  ]
  for (const prefix of ['', '/v1']) {
    // A scope for each, since one may read bodies in its own way.
    for (const route of publicRoutes) await app.register(async scope => route(scope), { prefix })
  }
  return { app }
}

/** The whole public contract, as it is described. */
const operations = [createChatCompletion, ...accountOperations, ...edgeOperations]

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)

const metricsAccess = ({ metricsToken, trustProxy }: AppSettings) => ({
  metricsToken,
  behindProxy: trustProxy !== false,
})

const stamp = (request: FastifyRequest, reply: FastifyReply): void => {
  reply.header('x-request-id', request.id).header('cache-control', 'private, no-store')
}

/** A number is how many proxies stand before us. */
const trusted = (proxies: AppSettings['trustProxy']) =>
  typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : proxies

/** What a page of another origin may read of an answer. */
const exposed = [
  'x-request-id',
  'x-generation-id',
  'x-max-tokens-capped',
  'retry-after',
  'x-should-retry',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]

const methodsAt = (app: FastifyInstance, url: string): string[] => {
  const path = (url.split('?', 1)[0] ?? '').replace(/(?<=^(\/v1)?\/models\/).+/, '*')
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
