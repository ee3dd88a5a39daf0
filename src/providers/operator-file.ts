/**
 * The operator's own providers, models and prices: the JSON file that `PROVIDERS_FILE` names. It is checked whole and
 * taken whole; a credential in it is never repeated in a message.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { splitBaseUrl } from './configured-provider.ts'
import { anonymous, bearer, type PricedModel, type Provider } from './provider.ts'

/** What is wrong with the file, each line with the path of its field. */
export class OperatorFileError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `The providers file is not usable:\n${problems.map(problem => `  ${problem}`).join('\n')}`,
    )
    this.name = 'OperatorFileError'
  }
}

export type OperatorFile = {
  /** Kept on receipts: which content of the file priced them. */
  readonly version: string
  /** Providers that the registry doesn't have. */
  readonly providers: readonly Provider[]
  /** By provider id, those of the registry included: models to add, or to price anew. */
  readonly models: ReadonlyMap<string, readonly PricedModel[]>
  /** By provider id: where it is and with what, as far as the file says. */
  readonly reached: ReadonlyMap<
    string,
    { readonly baseUrl: string | null; readonly apiKeys: readonly string[] }
  >
}

const amount = z
  .string({ error: 'must be a decimal string of USD, such as "2.50"' })
  .regex(
    /^\d{1,9}(\.\d{1,9})?$/,
    'must be a decimal string of USD with up to 9 decimals, such as "2.50"',
  )

const Price = z.strictObject({
  input: amount,
  output: amount,
  cache_read: amount.optional(),
  cache_write: amount.optional(),
  cache_write_1h: amount.optional(),
  input_audio: amount.optional(),
  cache_read_audio: amount.optional(),
  output_audio: amount.optional(),
  fees: z.strictObject({ request: amount.optional(), web_search: amount.optional() }).optional(),
})

const modelName = z
  .string()
  .regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters')
const tokenCount = z.int().min(1).max(100_000_000)

const FileModel = z.strictObject({
  id: modelName,
  name: z.string().min(1).max(256).optional(),
  upstream_model: modelName.optional(),
  context_window: tokenCount.optional(),
  max_output_tokens: tokenCount.optional(),
  reasons: z.boolean().optional(),
  images: z.boolean().optional(),
  tools: z.boolean().optional(),
  description: z.string().max(4096).optional(),
  price: Price,
})

const baseUrl = z
  .string()
  .refine(isBaseUrl, 'must be an http(s) URL without user name, password, query and fragment')

function isBaseUrl(text: string): boolean {
  try {
    splitBaseUrl(text)
    return true
  } catch {
    return false
  }
}

const FileProvider = z.strictObject({
  id: z
    .string()
    .regex(
      /^[a-z][a-z0-9-]{0,63}$/,
      'must be lower-case letters, digits and dashes, a letter first',
    ),
  name: z.string().min(1).max(256).optional(),
  base_url: baseUrl.optional(),
  api_key: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'must be visible ASCII characters')
    .optional(),
  api_key_env: z.string().min(1).max(256).optional(),
  models: z.array(FileModel).min(1).max(10_000),
})
type FileProvider = z.infer<typeof FileProvider>

const File = z.strictObject({ providers: z.array(FileProvider).max(1000) })

const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '')

const parse = (text: string): z.infer<typeof File> => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The parser's own message would quote the file.
    throw new OperatorFileError(['it is not JSON'])
  }
  const result = File.safeParse(json)
  if (result.success) return result.data
  throw new OperatorFileError(
    result.error.issues
      .slice(0, 20)
      .map(({ path, message }) => `${pathOf(path) || 'the file'}: ${message}`),
  )
}

/** Any of its models may have a fee per request. */
const operatorDialect = chatCompletionsWith({ feePerRequest: true })

const toPricedModel = (model: z.infer<typeof FileModel>): PricedModel => ({
  name: model.id,
  title: model.name ?? model.id,
  upstreamModel: model.upstream_model ?? model.id,
  contextWindow: model.context_window ?? null,
  maxOutputTokens: model.max_output_tokens ?? null,
  reasons: model.reasons ?? false,
  images: model.images,
  tools: model.tools,
  description: model.description ?? null,
  price: {
    input: model.price.input,
    output: model.price.output,
    cacheRead: model.price.cache_read,
    cacheWrite: model.price.cache_write,
    cacheWrite1h: model.price.cache_write_1h,
    inputAudio: model.price.input_audio,
    cacheReadAudio: model.price.cache_read_audio,
    outputAudio: model.price.output_audio,
    fees: { request: model.price.fees?.request, webSearch: model.price.fees?.web_search },
  },
})

type Environment = Readonly<Record<string, string | undefined>>

/** What is wrong with one entry beyond its shape. */
const problemsOf = (
  entry: FileProvider,
  known: Provider | undefined,
  env: Environment,
  seen: Set<string>,
): string[] => {
  const problems: string[] = []
  const movable = known === undefined || known.needsBaseUrl === true
  if (seen.has(entry.id)) problems.push(`id: "${entry.id}" stands there twice`)
  seen.add(entry.id)
  if (entry.api_key !== undefined && entry.api_key_env !== undefined) {
    problems.push('api_key_env: give this or api_key, not both')
  }
  if (entry.api_key_env !== undefined && !env[entry.api_key_env]) {
    problems.push(`api_key_env: ${entry.api_key_env} is not set in the environment`)
  }
  if (known === undefined && entry.base_url === undefined) problems.push('base_url: is missing')
  if (
    !movable &&
    (entry.base_url ?? entry.api_key ?? entry.api_key_env ?? entry.name) !== undefined
  ) {
    problems.push(
      `id: "${entry.id}" is a provider of the gateway; an entry for it holds models and nothing else`,
    )
  }
  const names = new Set<string>()
  for (const [index, { id }] of entry.models.entries()) {
    if (names.has(id)) problems.push(`models[${index}].id: "${id}" stands there twice`)
    names.add(id)
  }
  return problems
}

/**
 * Reads the text of the file. `registry`: the gateway's own providers. `env` has what `api_key_env` names. Raises
 * `OperatorFileError`.
 */
export const parseOperatorFile = (
  text: string,
  registry: readonly Provider[],
  env: Environment,
): OperatorFile => {
  const file = parse(text)
  const known = new Map(registry.map(provider => [provider.id, provider]))
  const seen = new Set<string>()
  const problems = file.providers.flatMap((entry, index) =>
    problemsOf(entry, known.get(entry.id), env, seen).map(
      problem => `providers[${index}].${problem}`,
    ),
  )
  if (problems.length > 0) throw new OperatorFileError(problems)
  const keyOf = ({ api_key, api_key_env }: FileProvider) =>
    api_key ?? (api_key_env && env[api_key_env])
  const toProvider = (entry: FileProvider): Provider => ({
    id: entry.id,
    name: entry.name ?? entry.id,
    baseUrl: entry.base_url ?? '',
    dialect: operatorDialect,
    apiKeyEnv: entry.api_key_env ?? null,
    authorize: keyOf(entry) ? bearer : anonymous,
  })
  return {
    version: `file:${createHash('sha256').update(text).digest('hex').slice(0, 12)}`,
    providers: file.providers.filter(({ id }) => !known.has(id)).map(toProvider),
    models: new Map(file.providers.map(({ id, models }) => [id, models.map(toPricedModel)])),
    reached: new Map(
      file.providers
        .filter(
          ({ base_url, api_key, api_key_env }) =>
            (base_url ?? api_key ?? api_key_env) !== undefined,
        )
        .map(entry => {
          const apiKey = keyOf(entry)
          return [entry.id, { baseUrl: entry.base_url ?? null, apiKeys: apiKey ? [apiKey] : [] }]
        }),
    ),
  }
}

/** Reads the file at `path`: at start, and again on SIGHUP. Raises `OperatorFileError`, also where it can't be read. */
export const readOperatorFile = (
  path: string,
  registry: readonly Provider[],
  env: Environment,
): OperatorFile => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new OperatorFileError([`${path} can't be read (${code})`])
  }
  return parseOperatorFile(text, registry, env)
}
