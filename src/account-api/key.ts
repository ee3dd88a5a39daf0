import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ApiKey } from '../accounts/keys.ts'
import type { ErrorCode } from '../errors.ts'
import type { Activity, History, Spending } from '../ledger/history.ts'
import { formatUsd } from '../ledger/money.ts'
import type { Operation } from '../wire/operation.ts'
import { type AccountAccess, accessRefusals } from './account-access.ts'
import { instant, toInstant, usd } from './fields.ts'

const perPeriod = <T extends z.ZodType>(value: T) =>
  z.object({ today: value, this_week: value, this_month: value, total: value })

const KeySchema = z.object({
  id: z.string(),
  name: z.string(),
  label: z.string().describe('The hint by which the key is recognised; the key itself is nowhere.'),
  state: z.enum(['active', 'disabled', 'revoked']),
  created_at: instant('When it was made.'),
  expires_at: instant('When it ends.').nullable(),
  last_used_at: instant('When it was last charged, to the minute.').nullable(),
  limit: usd('What the key may spend in a period.')
    .nullable()
    .describe('What the key may spend in a period. null: no limit of its own.'),
  limit_remaining: usd('What is left of it.').nullable(),
  limit_reset: z
    .enum(['daily', 'weekly', 'monthly'])
    .nullable()
    .describe('When the limit starts anew. null: never.'),
  rate_limit: z.object({
    requests_per_minute: z.int().nullable(),
    requests_per_minute_remaining: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    tokens_per_minute_remaining: z.int().nullable(),
  }),
  usage: perPeriod(usd('What was charged.')).describe(
    'What the key was charged in this UTC day, week (from Monday), month, and in all.',
  ),
  requests: perPeriod(z.int().min(0)).describe('How many requests were answered, likewise.'),
})

const none = {
  limit: null,
  limit_remaining: null,
  limit_reset: null,
  rate_limit: {
    requests_per_minute: null,
    requests_per_minute_remaining: null,
    tokens_per_minute: null,
    tokens_per_minute_remaining: null,
  },
} as const

export const getKey: Operation<ErrorCode> = {
  id: 'getKey',
  method: 'get',
  path: '/key',
  group: 'Account',
  title: 'Read this key',
  description:
    'The key that asks: its state, its limits and what is left of them, and what it has used. Keys are made, disabled and revoked elsewhere, never with a key.',
  auth: 'apiKey',
  answer: {
    description: 'The key that asked.',
    contentType: 'application/json',
    shape: { name: 'Key', schema: KeySchema },
    example: {
      id: 'key_01jd8k3v6t4m2q',
      name: 'Production',
      label: 'tg_ab12…wxyz',
      state: 'active',
      created_at: '2026-11-02T09:30:00.000Z',
      expires_at: null,
      last_used_at: '2026-11-20T14:05:00.000Z',
      ...none,
      usage: { today: '0.0126488', this_week: '1.204', this_month: '7.5512', total: '7.5512' },
      requests: { today: 41, this_week: 1290, this_month: 8412, total: 8412 },
    },
  },
  refusals: accessRefusals,
}

export const keyRoute = (app: FastifyInstance, access: AccountAccess, history: History): void => {
  app.get('/key', request =>
    access.withKey(request.headers.authorization, async (key, nowMs) => {
      const [spending, activity] = await Promise.all([
        history.spendingOfKey(key.id, nowMs),
        history.activityOfKey(key.id, nowMs),
      ])
      return toBody(key, spending, activity)
    }),
  )
}

const toBody = (
  key: ApiKey,
  spending: Spending,
  activity: Activity,
): z.infer<typeof KeySchema> => ({
  id: key.id,
  name: key.name,
  label: key.hint,
  state: key.state,
  created_at: toInstant(key.createdAtMs),
  expires_at: key.expiresAtMs === null ? null : toInstant(key.expiresAtMs),
  last_used_at: activity.lastUsedAtMs === null ? null : toInstant(activity.lastUsedAtMs),
  ...none,
  usage: {
    today: formatUsd(spending.dayNanoUsd),
    this_week: formatUsd(spending.weekNanoUsd),
    this_month: formatUsd(spending.monthNanoUsd),
    total: formatUsd(spending.totalNanoUsd),
  },
  requests: {
    today: activity.dayRequests,
    this_week: activity.weekRequests,
    this_month: activity.monthRequests,
    total: activity.totalRequests,
  },
})
