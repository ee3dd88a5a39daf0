import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type ErrorCode, GatewayError } from '../errors.ts'
import type { Catalogue } from '../models/catalogue.ts'
import { exampleModel, exampleProvider } from '../wire/example.ts'
import type { Operation } from '../wire/operation.ts'
import { type ListedModel, ListedModelSchema } from './listed-model.ts'
import type { ModelTexts } from './model-texts.ts'

const ModelListSchema = z.object({
  object: z.literal('list'),
  data: z.array(ListedModelSchema),
})

const Query = z.strictObject({
  provider: z.string().max(64).optional(),
  q: z.string().max(100).optional(),
  all: z.enum(['true', 'false']).optional(),
})

const example: ListedModel = {
  id: exampleModel,
  object: 'model',
  created: 0,
  owned_by: exampleProvider,
  name: 'Tollgate demo',
  description: 'Says hello and what it was asked. For a first try.',
  available: true,
  context_length: 1_000_000,
  architecture: {
    modality: null,
    input_modalities: ['text'],
    output_modalities: ['text'],
    tokenizer: null,
    instruct_type: null,
  },
  pricing: {
    prompt: '0.000001',
    completion: '0.000004',
    input_cache_read: '0.0000001',
    input_cache_write: '0.000001',
    request: '0',
  },
  top_provider: { context_length: 1_000_000, max_completion_tokens: 4096, is_moderated: false },
  supported_parameters: ['max_completion_tokens', 'max_tokens', 'stream', 'temperature'],
}

export const listModels: Operation<ErrorCode> = {
  id: 'listModels',
  method: 'get',
  path: '/models',
  group: 'Models',
  title: 'List models',
  description:
    'All models that this gateway serves, with what they cost. An `ETag` lets you ask again cheaply.',
  auth: 'none',
  parameters: [
    {
      name: 'provider',
      in: 'query',
      required: false,
      schema: Query.shape.provider,
      description: 'Only those of one provider: the first segment of their ids.',
    },
    {
      name: 'q',
      in: 'query',
      required: false,
      schema: Query.shape.q,
      description: 'Words that must all occur in the id or the name.',
    },
    {
      name: 'all',
      in: 'query',
      required: false,
      schema: Query.shape.all,
      description: 'Also those that are known and priced, but not served here.',
    },
  ],
  answer: {
    description: 'The models.',
    contentType: 'application/json',
    shape: { name: 'ModelList', schema: ModelListSchema },
    example: { object: 'list', data: [example] },
  },
  refusals: ['invalid_request'],
}

export const getModel: Operation<ErrorCode> = {
  id: 'getModel',
  method: 'get',
  path: '/models/{model}',
  group: 'Models',
  title: 'Read one model',
  description: 'One model that this gateway serves.',
  auth: 'none',
  parameters: [
    {
      name: 'model',
      in: 'path',
      required: true,
      schema: z.string(),
      description: 'The model id; its slashes may stand as they are.',
    },
  ],
  answer: {
    description: 'The model.',
    contentType: 'application/json',
    shape: { name: 'Model', schema: ListedModelSchema },
    example,
  },
  refusals: ['invalid_model_id', 'model_not_found'],
}

/** `GET /models`, `GET /models/{provider}/{model…}`: for anybody. */
export const modelsRoutes = (
  app: FastifyInstance,
  catalogue: () => Catalogue,
  texts: ModelTexts,
): void => {
  app.get('/models', (request, reply) => {
    const filter = filterOf(request.query)
    return send(request, reply, texts.etag(JSON.stringify(filter)), () => texts.list(filter))
  })

  app.get<{ Params: { '*': string } }>('/models/*', (request, reply) => {
    const model = catalogue().resolve(request.params['*'])
    return send(request, reply, texts.etag(model.id), () => texts.one(model))
  })
}

const filterOf = (given: unknown) => {
  const query = Query.safeParse(given)
  if (query.success) {
    const { provider, q, all } = query.data
    return {
      all: all === 'true',
      ...(provider === undefined ? {} : { provider }),
      ...(q === undefined ? {} : { query: q }),
    }
  }
  const [issue] = query.error.issues
  const param = String(issue?.path[0] ?? (issue?.code === 'unrecognized_keys' && issue.keys[0]))
  throw new GatewayError(
    'invalid_request',
    'GET /models takes provider, q (up to 100 characters) and all (true or false), each once.',
    { param: param.slice(0, 64) },
  )
}

const send = (
  request: FastifyRequest,
  reply: FastifyReply,
  etag: string,
  text: () => string,
): FastifyReply => {
  reply.header('cache-control', 'public, max-age=60').header('etag', etag)
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(text())
}
