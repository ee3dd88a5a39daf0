import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { completionTokens, promptTokens } from '../wire/usage.ts'

/** The client left before its answer was out; nginx's number, since HTTP has none. */
const clientClosedRequest = 499

/** One line and one observation for each request, when it is over, however it ended. */
export const logRequests = (app: FastifyInstance, log: Log, metrics: Metrics): void => {
  app.decorateRequest('generation', null)
  app.decorateRequest('failure', null)
  app.addHook('onRequest', (request, reply, done) => {
    const startedMs = performance.now()
    // `close` comes after the last byte and after an abort alike; Fastify's own hook misses the latter.
    reply.raw.once('close', () =>
      record(log, metrics, request, reply, performance.now() - startedMs),
    )
    done()
  })
}

const record = (
  log: Log,
  metrics: Metrics,
  request: FastifyRequest,
  reply: FastifyReply,
  durationMs: number,
): void => {
  const { generation, failure } = request
  const status = reply.raw.writableFinished ? reply.raw.statusCode : clientClosedRequest
  const route = request.routeOptions.url ?? 'unknown'
  const code = failure?.code ?? generation?.ended?.error ?? null
  metrics.observeRequest(route, status, code, durationMs)
  const line: Record<string, unknown> = {
    requestId: request.id,
    method: request.method,
    route,
    status,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
  }
  if (code) line.code = code
  if (generation) {
    line.generationId = generation.id
    line.accountId = generation.accountId
    line.keyId = generation.keyId
    line.model = generation.model.id
    const ended = generation.ended
    if (ended) {
      const { usage, settlement } = ended.settled
      line.promptTokens = promptTokens(usage)
      line.completionTokens = completionTokens(usage)
      line.chargeNanoUsd = String(settlement.chargeNanoUsd)
      if (generation.ttftMs !== null) line.ttftMs = generation.ttftMs
      metrics.observeGeneration(generation.model.id, generation.model.provider.provider.id, {
        usage,
        chargeNanoUsd: settlement.chargeNanoUsd,
        ttftMs: generation.ttftMs,
        attempts: generation.attempts,
      })
    }
  }
  if (failure && failure.status >= 500) log.error({ ...line, err: failure }, 'request failed')
  else log.info(line, 'request')
}
