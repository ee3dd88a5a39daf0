/** What every dialect's recordings are held against: the vendors' schemas, OpenAI's schema, and cuts at every byte. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { chunkOf, type Dialect, type StreamEvent } from '../../src/dialects/dialect.ts'
import { GatewayError } from '../../src/errors.ts'
import type { AnswerMessage, ChatChunk } from '../../src/wire/chat.ts'
import { specsDir } from '../recordings.ts'

export type Json = Record<string, unknown>

export const field = (value: unknown, ...path: readonly string[]): unknown => {
  let at = value
  for (const name of path)
    at = typeof at === 'object' && at !== null ? (at as Json)[name] : undefined
  return at
}

/** `null` where the schemas are absent: then nothing is complained about. */
export const validatorOf = (file: string, name: string): ValidateFunction | null => {
  if (!existsSync(specsDir)) return null
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  const schema = JSON.parse(readFileSync(join(specsDir, file), 'utf8')) as Json
  return ajv
    .addSchema({ ...schema, $id: 'spec' })
    .compile({ $ref: `spec#/components/schemas/${name}` })
}

/** Exempt: the finish reason `error`, which is ours. */
export const complaints = (validate: ValidateFunction | null, value: unknown): string[] =>
  validate === null || validate(value)
    ? []
    : (validate.errors ?? [])
        .filter(({ instancePath }) => !/\/finish_reason$/.test(instancePath))
        .map(({ instancePath, message }) => `${instancePath} ${message}`)

const openAi = 'openai-chat.schema.json'
const answerSchema = validatorOf(openAi, 'CreateChatCompletionResponse')
const chunkSchema = validatorOf(openAi, 'CreateChatCompletionStreamResponse')
const stamp = { id: 'gen-1', created: 1, model: 'a/b' }

export const answerComplaints = (answer: object): string[] =>
  complaints(answerSchema, { ...stamp, object: 'chat.completion', ...answer })

export const chunkComplaints = (chunk: object): string[] =>
  complaints(chunkSchema, { ...stamp, object: 'chat.completion.chunk', ...chunk })

export type Outcome = { events: StreamEvent[]; ending: string }

export const run = (dialect: Dialect, pieces: Iterable<Buffer>): Outcome => {
  const reader = dialect.readStream()
  const events: StreamEvent[] = []
  try {
    for (const piece of pieces) for (const event of reader.push(piece)) events.push(event)
    for (const event of reader.end()) events.push(event)
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return { events, ending: `${thrown.code}: ${thrown.message}` }
  }
  return { events, ending: reader.done ? 'done' : 'open' }
}

export const chunksOf = ({ events }: Outcome): ChatChunk[] =>
  events.flatMap(event => chunkOf(event) ?? [])

function* singleBytes(bytes: Buffer): Generator<Buffer> {
  for (let i = 0; i < bytes.length; i++) yield bytes.subarray(i, i + 1)
}

/** Every boundary of a short stream, forty of a long one, and one byte at a time for all. */
export const expectSameWhenRecut = (dialect: Dialect, bytes: Buffer, whole: Outcome): void => {
  const wanted = JSON.stringify(whole)
  const step = bytes.length <= 2048 ? 1 : Math.ceil(bytes.length / 40)
  for (let at = 1; at < bytes.length; at += step) {
    const got = JSON.stringify(run(dialect, [bytes.subarray(0, at), bytes.subarray(at)]))
    if (got !== wanted) expect.fail(`cut at ${at} of ${bytes.length} gives other events`)
  }
  expect(JSON.stringify(run(dialect, singleBytes(bytes))) === wanted).toBe(true)
}

/** What a client has once it has gathered a stream: texts joined, calls and reasoning by their index. */
export const gather = (chunks: readonly ChatChunk[]): AnswerMessage => {
  const message: AnswerMessage = { role: 'assistant', content: '', refusal: null }
  const lists = {
    reasoning_details: [] as Json[],
    annotations: [] as Json[],
    citations: [] as Json[],
  }
  const calls: NonNullable<AnswerMessage['tool_calls']> = []
  for (const { delta } of chunks.flatMap(({ choices }) => choices)) {
    message.content += delta.content ?? ''
    if (delta.reasoning) message.reasoning = (message.reasoning ?? '') + delta.reasoning
    if (delta.refusal) message.refusal = (message.refusal ?? '') + delta.refusal
    for (const key of Object.keys(lists) as (keyof typeof lists)[])
      lists[key].push(...((delta[key] as Json[] | undefined) ?? []))
    for (const call of delta.tool_calls ?? []) {
      const none = { name: '', arguments: '' }
      const gathered = calls[call.index] ?? { id: call.id ?? '', type: 'function', function: none }
      calls[call.index] = gathered
      gathered.function.name += call.function?.name ?? ''
      gathered.function.arguments += call.function?.arguments ?? ''
    }
  }
  if (calls.length > 0) message.tool_calls = calls
  for (const [key, list] of Object.entries(lists)) if (list.length > 0) message[key] = list
  return message
}

export type Tally = {
  recordings: number
  requests: number
  answers: number
  usage: number
  cuts: number
}

/** The table that the suite prints: provider × what was checked. */
export class Tallies {
  readonly #byProvider = new Map<string, Tally>()

  of(provider: string): Tally {
    const known = this.#byProvider.get(provider) ?? {
      recordings: 0,
      requests: 0,
      answers: 0,
      usage: 0,
      cuts: 0,
    }
    this.#byProvider.set(provider, known)
    return known
  }

  print(): void {
    console.table(Object.fromEntries(this.#byProvider))
  }
}
