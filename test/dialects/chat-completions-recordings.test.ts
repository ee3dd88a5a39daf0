/**
 * Everything recorded of providers that speak chat-completions, through the dialect: answers and streams must parse,
 * satisfy OpenAI's own schema once the gateway's stamp is on them, and report the usage that the provider reported.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, test } from 'vitest'
import { chatCompletionsWith, type Quirks } from '../../src/dialects/chat-completions.ts'
import type { Dialect, StreamEvent } from '../../src/dialects/dialect.ts'
import { GatewayError } from '../../src/errors.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { completionTokens, promptTokens, type Usage } from '../../src/wire/usage.ts'
import {
  bodyText,
  describeRecorded,
  type Interaction,
  interactions,
  looseAnswers,
  readJson,
  specsDir,
} from '../recordings.ts'
import { inFull } from './in-full.ts'

type Json = Record<string, unknown>

/** What the recordings need; the provider files name the same. */
const quirksOf: Record<string, Quirks> = {
  perplexity: { endsWithoutDone: true, feePerRequest: true },
  gpustack: { endsWithoutDone: true },
  openai: {
    outputCap: 'max_completion_tokens',
    dropsFromMessages: ['reasoning', 'reasoning_content', 'reasoning_details'],
  },
  openrouter: { reasoning: 'reasoning' },
  mistral: {
    outputCap: 'max_tokens',
    drops: ['stream_options', 'user', 'store'],
    renames: { seed: 'random_seed' },
    dropsFromMessages: ['refusal', 'reasoning', 'reasoning_content', 'annotations'],
  },
}
const dialectOf = (provider: string): Dialect => chatCompletionsWith(quirksOf[provider] ?? {})

const counts = new Map<string, { whole: number; streams: number; usage: number; cuts: number }>()
const countsOf = (provider: string) => {
  const found = counts.get(provider) ?? { whole: 0, streams: 0, usage: 0, cuts: 0 }
  counts.set(provider, found)
  return found
}

const validatorOf = (name: string, file = 'openai-chat.schema.json'): ValidateFunction => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  const schema = JSON.parse(readFileSync(join(specsDir, file), 'utf8')) as Json
  return ajv.addSchema({ ...schema, $id: 'spec' }).compile({
    $ref: `spec#/components/schemas/${name}`,
  })
}

const hasSpecs = existsSync(specsDir)
const validateAnswer = hasSpecs ? validatorOf('CreateChatCompletionResponse') : null
const validateChunk = hasSpecs ? validatorOf('CreateChatCompletionStreamResponse') : null

const stamp = { id: 'gen-1', created: 1, model: 'a/b' }

/** Exempt: the finish reason `error`, which is ours, and OpenRouter's annotations of files, which clients send back. */
const complaints = (validate: ValidateFunction | null, value: object): string[] => {
  if (validate === null || validate(value)) return []
  return (validate.errors ?? [])
    .filter(({ instancePath }) => !/\/finish_reason$|\/annotations\//.test(instancePath))
    .map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Json)[name] : undefined

/** An oracle of its own, from the numbers alone: what each side of the total must come to. */
const expectSameUsage = (provider: string, reported: unknown, usage: Usage | null): void => {
  const number = (name: string, inside?: string): number =>
    Number(field(inside === undefined ? reported : field(reported, inside), name) ?? 0)
  expect(usage).not.toBeNull()
  if (usage === null) return
  const apart = number('total_tokens') - number('prompt_tokens') - number('completion_tokens')
  const reasoning = number('reasoning_tokens', 'completion_tokens_details')
  const reasoningApart = provider === 'xai' || apart === reasoning ? Math.max(apart, 0) : 0
  const audioApart = provider === 'mistral' ? apart : 0
  expect(promptTokens(usage)).toBe(number('prompt_tokens') + audioApart)
  expect(completionTokens(usage)).toBe(number('completion_tokens') + reasoningApart)
  const cached =
    number('cached_tokens', 'prompt_tokens_details') ||
    number('prompt_cache_hit_tokens') ||
    number('cached_tokens') ||
    number('num_cached_tokens')
  expect(usage.tokens.cacheRead ?? 0).toBe(Math.min(cached, promptTokens(usage)))
  for (const count of Object.values(usage.tokens)) expect(count).toBeGreaterThanOrEqual(0)
  expect(usage.reasoning ?? 0).toBeLessThanOrEqual(completionTokens(usage))
  countsOf(provider).usage++
}

const checkWhole = (provider: string, body: string): void => {
  const { answer, usage } = dialectOf(provider).parseResponse(body)
  const stamped = { ...stamp, object: 'chat.completion', ...answer }
  expect(complaints(validateAnswer, stamped)).toEqual([])
  const source: unknown = JSON.parse(body)
  const choices = field(source, 'choices') as Json[]
  expect(answer.choices.map(({ native_finish_reason: native }) => native)).toEqual(
    choices.map(choice => choice.native_finish_reason ?? choice.finish_reason),
  )
  expect(answer.choices.every(({ finish_reason: reason }) => reason !== 'error')).toBe(true)
  for (const [i, { message }] of answer.choices.entries()) {
    const said = field(choices[i], 'message')
    const content = field(said, 'content')
    if (typeof content === 'string') expect(message.content).toBe(content)
    expect(message.tool_calls?.length ?? 0).toBe(
      (field(said, 'tool_calls') as unknown[] | null)?.length ?? 0,
    )
    for (const call of message.tool_calls ?? []) expect(call.id).not.toBe('')
  }
  if (field(source, 'usage')) expectSameUsage(provider, field(source, 'usage'), usage)
  countsOf(provider).whole++
}

type Outcome = { events: StreamEvent[]; ending: string }

const run = (provider: string, pieces: Iterable<Buffer>): Outcome => {
  const reader = dialectOf(provider).readStream()
  const events: StreamEvent[] = []
  try {
    for (const piece of pieces) events.push(...reader.push(piece).map(inFull))
    events.push(...reader.end().map(inFull))
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return { events, ending: `${thrown.code}: ${thrown.message}` }
  }
  return { events, ending: reader.done ? 'done' : 'open' }
}

function* singleBytes(bytes: Buffer): Generator<Buffer> {
  for (let i = 0; i < bytes.length; i++) yield bytes.subarray(i, i + 1)
}

/** Every boundary of a short stream, forty of a long one, and one byte at a time for all. */
const recut = (provider: string, bytes: Buffer, whole: Outcome): void => {
  const wanted = JSON.stringify(whole)
  const step = bytes.length <= 2048 ? 1 : Math.ceil(bytes.length / 40)
  for (let at = 1; at < bytes.length; at += step) {
    const got = JSON.stringify(run(provider, [bytes.subarray(0, at), bytes.subarray(at)]))
    if (got !== wanted) expect.fail(`cut at ${at} of ${bytes.length} gives other events`)
  }
  expect(JSON.stringify(run(provider, singleBytes(bytes))) === wanted).toBe(true)
  countsOf(provider).cuts++
}

const sourceEvents = (text: string): Json[] =>
  [...text.matchAll(/^data: ?(\{.*)$/gm)].map(match => JSON.parse(match[1] ?? '') as Json)

const textOf = (events: readonly Json[], pick: (delta: unknown) => unknown): string =>
  events
    .flatMap(event => (event.choices as Json[] | undefined) ?? [])
    .map(choice => pick(choice.delta))
    .filter(one => typeof one === 'string')
    .join('')

/** Mistral sends lists of parts, of which only the text is content. */
const contentOf = (content: unknown): unknown =>
  Array.isArray(content) ? content.map(part => field(part, 'text') ?? '').join('') : content

const checkStream = (provider: string, text: string): void => {
  const bytes = Buffer.from(text)
  const outcome = run(provider, [bytes])
  expect(outcome.ending).toBe('done')
  // White space that means nothing keeps every event off the short way, which must make no difference.
  const spaced = Buffer.from(text.replaceAll('"content":', '"content": '))
  expect(run(provider, [spaced])).toEqual(outcome)
  const chunks = outcome.events.flatMap(({ chunk }) => chunk ?? [])
  for (const chunk of chunks) {
    const stamped = { ...stamp, object: 'chat.completion.chunk', ...chunk }
    expect(complaints(validateChunk, stamped)).toEqual([])
  }
  const choices = chunks.flatMap(chunk => chunk.choices)
  expect(choices.filter(({ delta }) => delta.role !== undefined)).toHaveLength(
    new Set(choices.map(({ index }) => index)).size,
  )
  expect(choices.some(({ finish_reason: reason }) => reason !== null && reason !== 'error')).toBe(
    true,
  )

  const source = sourceEvents(text)
  for (const pick of [
    (delta: unknown) => contentOf(field(delta, 'content')),
    (delta: unknown) => field(delta, 'reasoning_content'),
    (delta: unknown) =>
      ((field(delta, 'tool_calls') as unknown[] | undefined) ?? [])
        .map(call => field(field(call, 'function'), 'arguments'))
        .join(''),
  ])
    expect(textOf(chunks, pick)).toBe(textOf(source, pick))

  const reported = source
    .map(event => event.usage ?? field(event.x_groq, 'usage'))
    .findLast(Boolean)
  const usage = outcome.events.findLast(event => event.usage !== undefined)?.usage ?? null
  if (reported) expectSameUsage(provider, reported, usage)
  recut(provider, bytes, outcome)
  countsOf(provider).streams++
}

const requestSchemas: Record<string, readonly [file: string, name: string]> = {
  openai: ['openai-chat.schema.json', 'CreateChatCompletionRequest'],
  azure: ['openai-chat.schema.json', 'CreateChatCompletionRequest'],
  openrouter: ['openrouter-chat.schema.json', 'ChatRequest'],
  mistral: ['mistral-chat.schema.json', 'ChatCompletionRequest'],
}

/** How many were checked. Left out: what isn't a request in our shape, and what Mistral's schema forbids and Mistral takes. */
const checkRequests = (provider: string, all: readonly Interaction[]): number => {
  const [file = '', name = ''] = requestSchemas[provider] ?? []
  const validate = hasSpecs ? validatorOf(name, file) : null
  let checked = 0
  for (const { provider: of, file: cassette, request } of all) {
    const chat = ChatRequestSchema.safeParse(request.body.json)
    if (of !== provider || !chat.success || /voxtral|uses_prompt_cache/.test(cassette)) continue
    const target = { upstreamModel: chat.data.model, maxOutputTokens: 512 }
    const { body } = dialectOf(provider).renderRequest(chat.data, target)
    expect(complaints(validate, JSON.parse(body) as object), cassette).toEqual([])
    checked++
  }
  return checked
}

/** A pair of each kind; recorded refusals are tested in test/wire/provider-error.test.ts. */
const isAnswer = ({ response }: Interaction): boolean => response.status < 300
/** This one is cut short by its recorder. */
const isBroken = ({ provider }: Interaction): boolean => provider === 'other'

describeRecorded('recorded chat-completions', () => {
  const answers = interactions(/\/chat\/completions/).filter(one => isAnswer(one) && !isBroken(one))
  const failing = new Set(
    (readJson('errors/mid-stream-errors.json') as Interaction[]).map(({ response }) =>
      bodyText(response.body),
    ),
  )
  const isStream = ({ response }: Interaction): boolean => response.body.text !== undefined
  const isFailing = ({ response }: Interaction): boolean => failing.has(bodyText(response.body))
  const named = (all: Interaction[]) => all.map(one => [one.file, one] as const)

  describe('requests, rendered by us, satisfy the schema of', () => {
    test.each(['openai', 'azure', 'openrouter', 'mistral'])('%s', provider => {
      expect(checkRequests(provider, answers)).toBeGreaterThan(25)
    })
  })

  describe('whole answers', () => {
    test.each(named(answers.filter(one => !isStream(one))))('%s', (_, { provider, response }) => {
      checkWhole(provider, bodyText(response.body))
    })
    const loose = looseAnswers('.json').filter(({ text }) =>
      /"object": ?"chat\.completion"/.test(text),
    )
    test.each(loose.map(one => [one.file, one] as const))('%s', (_, { provider, text }) => {
      checkWhole(provider, text)
    })
  })

  describe('streams', () => {
    const whole = answers.filter(one => isStream(one) && !isFailing(one))
    test.each(named(whole))('%s', (_, { provider, response }) => {
      checkStream(provider, bodyText(response.body))
    })
    const loose = looseAnswers('.chunks.txt').filter(({ text }) => /"choices":/.test(text))
    test.each(loose.map(one => [one.file, one] as const))('%s', (_, { provider, text }) => {
      const events = text.split('\n').filter(line => line.trim() !== '')
      checkStream(provider, `${events.map(event => `data: ${event}\n\n`).join('')}data: [DONE]\n\n`)
    })
  })

  describe('streams that fail midway', () => {
    const all = readJson('errors/mid-stream-errors.json') as Interaction[]
    const chat = all.filter(({ request }) => /\/chat\/completions/.test(request.url))
    test.each(chat.map(one => [one.provider, one] as const))('of %s', (provider, { response }) => {
      const bytes = Buffer.from(bodyText(response.body))
      const outcome = run(provider, [bytes])
      expect(outcome.ending).toMatch(/^(invalid_request|provider_error): /)
      expect(outcome.events.length).toBeGreaterThan(0)
      recut(provider, bytes, outcome)
    })
  })

  afterAll(() => {
    console.table(Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b))))
  })
})
