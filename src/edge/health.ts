import type { FastifyInstance } from 'fastify'

export type Health = {
  /** False while draining, or while the ledger can't commit. */
  ready: () => boolean
}

/** `/health`: the process is alive. `/ready`: it can serve. */
export const healthRoutes = (app: FastifyInstance, { ready }: Health): void => {
  app.get('/health', async () => ({ status: 'ok' }))
  app.get('/ready', async (_request, reply) => {
    if (ready()) return { status: 'ready' }
    return reply.code(503).header('retry-after', '1').send({ status: 'not_ready' })
  })
}
