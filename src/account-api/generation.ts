import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type ErrorCode, GatewayError } from '../errors.ts'
import type { Generation, History } from '../ledger/history.ts'
import { formatUsd } from '../ledger/money.ts'
import type { AppliedRates, Attempt } from '../ledger/receipt.ts'
import { exampleModel, exampleProvider } from '../wire/example.ts'
import type { Operation } from '../wire/operation.ts'
import { completionTokens, promptTokens, type Usage } from '../wire/usage.ts'
import { type AccountAccess, accessRefusals } from './account-access.ts'
import { instant, toInstant, usd, usdRate } from './fields.ts'
import { withMarkup } from './pricing.ts'

/** The names of token classes and fees on the wire. */
const wireName = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
  inputAudio: 'input_audio',
  cacheReadAudio: 'cache_read_audio',
  output: 'output',
  outputAudio: 'output_audio',
  request: 'request',
  webSearch: 'web_search',
} as const

const count = z.int().min(0)

const AttemptSchema = z.object({
  provider: z.string(),
  model: z.string().describe('The name sent to the provider.'),
  status: z.int().nullable().describe('The HTTP status it answered with; null where none came.'),
  error: z.string().nullable().describe('A code of the error table; null where it answered.'),
  latency_ms: z.number(),
})

const GenerationSchema = z.object({
  id: z.string(),
  object: z.literal('generation'),
  state: z
    .enum(['running', 'settled', 'recovered'])
    .describe('`recovered`: settled at its last checkpoint after a crash of the gateway.'),
  created_at: instant('When it was admitted.'),
  key_id: z.string().describe('The key that paid.'),
  model: z.string().describe('The model id that served.'),
  model_asked: z.string().describe('The model id as the client wrote it.'),
  provider: z.string().describe('Who served it.'),
  streamed: z.boolean(),
  finish_reason: z.string().nullable(),
  native_finish_reason: z.string().nullable().describe("The provider's own word for it."),
  error: z
    .string()
    .nullable()
    .describe('With what it broke off: a code of the error table, or `client_closed_request`.'),
  tokens_prompt: count.describe('All tokens of the prompt.'),
  tokens_completion: count.describe('All tokens of the answer, reasoning included.'),
  usage: z.object({
    tokens: z
      .record(z.string(), count)
      .describe(
        'Tokens by class; each token is counted in one class. A class that is missing is 0.',
      ),
    reasoning: count.describe('The part of `output` that was reasoning.'),
    counts: z.record(z.string(), count).describe('What is paid by the piece.'),
    estimated: z.boolean().describe('The provider reported no usage, so the gateway counted.'),
  }),
  rates: z
    .object({
      version: z.string().describe('Where the figures come from.'),
      effective_from: z.string().nullable().describe('The day from which they hold.'),
      per_million_tokens: z.record(z.string(), usdRate('USD per million tokens.')),
      fees: z.record(z.string(), usdRate('USD for one.')),
    })
    .describe('What was applied, so that anyone can compute the charge again.'),
  price: usd('The price of the usage at these rates.'),
  charge: usd('What left the balance: the price, unless the balance could not cover it.'),
  loss: usd('The rest, which the operator bears.'),
  latency_ms: z.number().describe('From admission to the end.'),
  ttft_ms: z.number().nullable().describe('Time to the first token of a stream.'),
  attempts: z
    .array(AttemptSchema)
    .describe('Every call to a provider, in order. Failed ones cost nothing.'),
  application: z
    .object({
      title: z.string().nullable(),
      referer: z.string().nullable(),
      user_agent: z.string().nullable(),
    })
    .describe('The calling application, as it named itself.'),
  address: z.string().describe('The address that the request came from.'),
})

const Query = z.object({ id: z.string().min(1).max(128) })

export const getGeneration: Operation<ErrorCode> = {
  id: 'getGeneration',
  method: 'get',
  path: '/generation',
  group: 'Account',
  title: 'Read a receipt',
  description:
    'What one request used, cost and went through. Readable the moment its response has ended, with any key of the account.',
  auth: 'apiKey',
  parameters: [
    {
      name: 'id',
      in: 'query',
      required: true,
      schema: Query.shape.id,
      description: '`id` of the answer, also in its header `X-Generation-Id`.',
    },
  ],
  answer: {
    description: 'The receipt.',
    contentType: 'application/json',
    shape: { name: 'Generation', schema: GenerationSchema },
    example: {
      id: 'gen-01jd8m2f7x9v4h',
      object: 'generation',
      state: 'settled',
      created_at: '2026-11-20T14:05:11.402Z',
      key_id: 'key_01jd8k3v6t4m2q',
      model: exampleModel,
      model_asked: exampleModel,
      provider: exampleProvider,
      streamed: true,
      finish_reason: 'stop',
      native_finish_reason: 'stop',
      error: null,
      tokens_prompt: 11,
      tokens_completion: 46,
      usage: { tokens: { input: 11, output: 46 }, reasoning: 0, counts: {}, estimated: false },
      rates: {
        version: 'genai-prices@0.1.8',
        effective_from: null,
        per_million_tokens: { input: '1', output: '4' },
        fees: {},
      },
      price: '0.000195',
      charge: '0.000195',
      loss: '0',
      latency_ms: 251,
      ttft_ms: 7,
      attempts: [
        { provider: exampleProvider, model: 'tollgate', status: 200, error: null, latency_ms: 1 },
      ],
      application: {
        title: 'My app',
        referer: 'https://app.example.com',
        user_agent: 'curl/8.9.1',
      },
      address: '203.0.113.7',
    },
  },
  refusals: ['invalid_request', ...accessRefusals, 'not_found'],
}

export const generationRoute = (
  app: FastifyInstance,
  access: AccountAccess,
  history: History,
): void => {
  app.get('/generation', request =>
    access.withKey(request.headers.authorization, async ({ accountId }) => {
      const query = Query.safeParse(request.query)
      if (!query.success) {
        const message = 'Name one generation: GET /generation?id=gen-…'
        throw new GatewayError('invalid_request', message, { param: 'id' })
      }
      const generation = await history.findGeneration(accountId, query.data.id)
      // Another account's is not told from one that never was.
      if (generation === undefined)
        throw new GatewayError('not_found', 'This account has no such generation.', { param: 'id' })
      return toBody(generation)
    }),
  )
}

const toBody = (generation: Generation): z.infer<typeof GenerationSchema> => ({
  id: generation.generationId,
  object: 'generation',
  state: generation.state,
  created_at: toInstant(generation.createdAtMs),
  key_id: generation.keyId,
  model: generation.model,
  model_asked: generation.modelAsked,
  provider: generation.provider,
  streamed: generation.streamed,
  finish_reason: generation.finishReason,
  native_finish_reason: generation.nativeFinishReason,
  error: generation.error,
  tokens_prompt: promptTokens(generation.usage),
  tokens_completion: completionTokens(generation.usage),
  usage: toUsage(generation.usage, generation.estimated),
  rates: toRates(generation.applied),
  price: formatUsd(generation.priceNanoUsd),
  charge: formatUsd(generation.chargeNanoUsd),
  loss: formatUsd(generation.lossNanoUsd),
  latency_ms: generation.latencyMs,
  ttft_ms: generation.ttftMs,
  attempts: generation.attempts.map(toAttempt),
  application: {
    title: generation.caller.title,
    referer: generation.caller.referer,
    user_agent: generation.caller.userAgent,
  },
  address: generation.caller.address,
})

const toUsage = (usage: Usage, estimated: boolean) => ({
  tokens: renamed(usage.tokens, pieces => pieces),
  reasoning: usage.reasoning ?? 0,
  counts: renamed(usage.counts ?? {}, pieces => pieces),
  estimated,
})

const toRates = ({ version, effectiveFrom, rates, fees, markupBasisPoints }: AppliedRates) => ({
  version,
  effective_from: effectiveFrom,
  per_million_tokens: renamed(rates, rate => withMarkup(rate, markupBasisPoints)),
  fees: renamed(fees, fee => withMarkup(fee, markupBasisPoints)),
})

const toAttempt = ({ provider, model, status, error, latencyMs }: Attempt) => ({
  provider,
  model,
  status,
  error,
  latency_ms: latencyMs,
})

/** `cacheRead` → `cache_read`; an unknown name stays as it is. */
const renamed = <In, Out>(
  values: Readonly<Record<string, In | undefined>>,
  convert: (value: In) => Out,
): Record<string, Out> => {
  const names: Readonly<Record<string, string>> = wireName
  const out: Record<string, Out> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) out[names[name] ?? name] = convert(value)
  }
  return out
}
