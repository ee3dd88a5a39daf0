import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import type { Operation } from '../wire/operation.ts'

const HealthSchema = z.object({ status: z.literal('ok') })
const ReadinessSchema = z.object({ status: z.enum(['ready', 'not_ready']) })

/** What this folder itself answers, as it is described. */
export const edgeOperations: readonly Operation<ErrorCode>[] = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    group: 'Gateway',
    title: 'Is it alive?',
    description: 'Answers as long as the process runs.',
    auth: 'none',
    answer: {
      description: 'Alive.',
      contentType: 'application/json',
      shape: { name: 'Health', schema: HealthSchema },
      example: { status: 'ok' },
    },
    refusals: [],
  },
  {
    id: 'getReadiness',
    method: 'get',
    path: '/ready',
    group: 'Gateway',
    title: 'Can it serve?',
    description:
      'For load balancers. 503 with `{"status": "not_ready"}` while the gateway is stopping or can’t make charges durable.',
    auth: 'none',
    answer: {
      description: 'Able to serve.',
      contentType: 'application/json',
      shape: { name: 'Readiness', schema: ReadinessSchema },
      example: { status: 'ready' },
    },
    refusals: [],
  },
  {
    id: 'getMetrics',
    method: 'get',
    path: '/metrics',
    group: 'Gateway',
    title: 'Read metrics',
    description:
      'For Prometheus: with the operator’s `METRICS_TOKEN`, or from the machine that the gateway runs on, unless a proxy stands before it.',
    auth: 'operator',
    answer: {
      description: 'The figures.',
      contentType: 'text/plain',
      shape: null,
      example:
        '# HELP tollgate_requests_in_flight Requests under way.\n# TYPE tollgate_requests_in_flight gauge\ntollgate_requests_in_flight 12\n',
    },
    refusals: ['missing_api_key', 'invalid_api_key'],
  },
]
