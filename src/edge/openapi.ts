/** The public contract as an OpenAPI 3.1 document, made from the schemas that validate it. */
import { z } from 'zod'
import { type ErrorCode, errorCatalogue } from '../errors.ts'
import type { Answer, NamedShape, Operation } from '../wire/operation.ts'
import { type ErrorAdvice, errorCodes, errorGuide } from './error-guide.ts'
import { baseUrlMark, guide } from './guide.ts'

export type JsonSchema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly additionalProperties?: JsonSchema | boolean
  readonly [keyword: string]: unknown
}

type Media = {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: unknown
}

export type OpenApiResponse = {
  readonly description: string
  readonly headers?: Readonly<Record<string, { description: string; schema: JsonSchema }>>
  readonly content: Readonly<Record<string, Media>>
}

export type OpenApiOperation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly security: readonly Record<string, never[]>[]
  readonly parameters?: readonly {
    name: string
    in: string
    required: boolean
    description: string
    schema: JsonSchema
  }[]
  readonly requestBody?: { required: true; content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, OpenApiResponse>>
}

/** One row of the table of errors. */
export type ErrorRow = ErrorAdvice & { code: ErrorCode; status: number; type: string }

export type OpenApiDocument = {
  readonly openapi: '3.1.0'
  readonly info: { title: string; version: string; summary: string; description: string }
  readonly servers: readonly { url: string; description: string }[]
  readonly tags: readonly { name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: {
    schemas: Readonly<Record<string, JsonSchema>>
    securitySchemes: Readonly<Record<string, object>>
  }
  readonly 'x-errors': readonly ErrorRow[]
}

export type OpenApiInput = { operations: readonly Operation<ErrorCode>[]; version: string }

const ErrorSchema = z.object({
  error: z.object({
    message: z.string().describe('For a person.'),
    type: z.string().describe('A group of codes.'),
    param: z.string().nullable().describe('The JSON path of the field at fault.'),
    code: z.enum(errorCodes).describe('For a program.'),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('What a program needs to act on it.'),
  }),
})

/** The base URL stands in it as `baseUrlMark`. */
export const buildOpenApi = ({ operations, version }: OpenApiInput): OpenApiDocument => {
  const shapes = operations.flatMap(({ body, answer, stream }) => [
    body?.shape ?? null,
    answer.shape,
    stream?.shape ?? null,
  ])
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: toOperation(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version,
      summary: 'Every model through one endpoint, with one key, paid exactly once.',
      description: guide,
    },
    servers: [{ url: baseUrlMark, description: 'This gateway. It answers without `/v1` too.' }],
    tags: [...new Set(operations.map(({ group }) => group))].map(name => ({ name })),
    paths,
    components: {
      schemas: toSchemas([{ name: 'Error', schema: ErrorSchema }, ...shapes]),
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of this gateway.' },
        operator: { type: 'http', scheme: 'bearer', description: 'The operator’s METRICS_TOKEN.' },
      },
    },
    'x-errors': errorCodes.map(code => ({ code, ...errorCatalogue[code], ...errorGuide[code] })),
  }
}

const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const toSchemas = (shapes: readonly (NamedShape | null)[]): Record<string, JsonSchema> => {
  const registry = z.registry<{ id: string }>()
  for (const shape of shapes) {
    if (shape && !registry.has(shape.schema)) registry.add(shape.schema, { id: shape.name })
  }
  const { schemas } = z.toJSONSchema(registry, { uri: name => refTo(name).$ref ?? '', io: 'input' })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, withoutIdentity(schema)]),
  )
}

/** A schema inside a document has its place there, and the document's dialect. */
const withoutIdentity = ({ $schema: _, $id: __, ...schema }: object & Record<string, unknown>) =>
  schema

const toSchema = (schema: z.ZodType): JsonSchema =>
  withoutIdentity({ ...z.toJSONSchema(schema, { io: 'input' }) })

const toOperation = (operation: Operation<ErrorCode>): OpenApiOperation => {
  const { id, group, title, description, auth, parameters = [], body } = operation
  return {
    operationId: id,
    tags: [group],
    summary: title,
    description,
    security: auth === 'none' ? [] : [{ [auth]: [] }],
    ...(parameters.length === 0
      ? {}
      : { parameters: parameters.map(each => ({ ...each, schema: toSchema(each.schema) })) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: refTo(body.shape.name), example: body.example },
            },
          },
        }),
    responses: { 200: toAnswer(operation), ...toRefusals(operation.refusals) },
  }
}

const toMedia = ({ contentType, shape, example }: Answer): Record<string, Media> => ({
  // Of a stream the schema is that of one event.
  [contentType]: { schema: shape === null ? { type: 'string' } : refTo(shape.name), example },
})

const toAnswer = ({ answer, stream, headers = {} }: Operation): OpenApiResponse => ({
  description:
    stream === undefined ? answer.description : `${answer.description} ${stream.description}`,
  headers: Object.fromEntries(
    Object.entries({ 'X-Request-Id': 'Yours, or one of ours.', ...headers }).map(
      ([name, meaning]) => [name, { description: meaning, schema: { type: 'string' } }],
    ),
  ),
  content: { ...toMedia(answer), ...(stream === undefined ? {} : toMedia(stream)) },
})

const toRefusals = (refusals: readonly ErrorCode[]): Record<string, OpenApiResponse> => {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorCodes) {
    if (!refusals.includes(code) && code !== 'internal_error') continue
    const { status } = errorCatalogue[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, toRefusal(codes)]))
}

const toRefusal = (codes: readonly ErrorCode[]): OpenApiResponse => ({
  description: codes.map(code => `\`${code}\``).join(', '),
  content: {
    'application/json': {
      schema: refTo('Error'),
      examples: Object.fromEntries(codes.map(code => [code, { value: errorExample(code) }])),
    },
  },
})

const errorExample = (code: ErrorCode) => {
  const { meaning, metadata } = errorGuide[code]
  const { type } = errorCatalogue[code]
  const error = { message: meaning.replaceAll('`', ''), type, param: null, code }
  return { error: metadata === undefined ? error : { ...error, metadata } }
}
