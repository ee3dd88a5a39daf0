/** Everything recorded of Cohere's chat, through the dialect. */
import { afterAll, describe, expect, test } from 'vitest'
import { cohereChat as dialect } from '../../src/dialects/cohere-chat.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import type { Usage } from '../../src/wire/usage.ts'
import {
  bodyText,
  describeRecorded,
  type Interaction,
  interactions,
  looseAnswers,
  type RecordedError,
  readJson,
} from '../recordings.ts'
import { cohereRequestComplaints } from './cohere-chat-schema.ts'
import {
  answerComplaints,
  chunkComplaints,
  chunksOf,
  expectSameWhenRecut,
  field,
  gather,
  type Json,
  run,
  Tallies,
} from './proof.ts'

const tallies = new Tallies()
const tally = tallies.of('cohere')

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

/** Billed are the units that Cohere says it bills. */
const expectSameUsage = (reported: unknown, usage: Usage | null): void => {
  expect(usage).toEqual({
    tokens: {
      input: field(reported, 'billed_units', 'input_tokens'),
      output: field(reported, 'billed_units', 'output_tokens'),
    },
    ...(field(reported, 'tokens', 'reasoning_tokens') ? { reasoning: expect.any(Number) } : {}),
  })
  tally.usage++
}

const textOf = (parts: unknown, type: string): string =>
  list(parts)
    .filter(part => part.type === type)
    .map(part => part[type])
    .join('')

const argumentsOf = (call: Json): unknown =>
  JSON.parse(String(field(call, 'function', 'arguments') || '{}')) ?? {}

/** `source`: the message as Cohere says it, or as its stream adds up. */
const expectSameAnswer = (message: Json, source: Json): void => {
  const plan = String(source.tool_plan ?? '')
  const thinking = textOf(source.content, 'thinking')
  expect(message.content ?? '').toBe(textOf(source.content, 'text'))
  expect(message.reasoning ?? '').toBe([thinking, plan].filter(Boolean).join('\n'))
  expect(list(message.tool_calls).map(argumentsOf)).toEqual(
    list(source.tool_calls).map(argumentsOf),
  )
  expect(list(message.tool_calls).map(({ id }) => id)).toEqual(
    list(source.tool_calls).map(({ id }) => id),
  )
  expect(list(message.citations)).toEqual(list(source.citations))
  const rendered = rendersBack(message)
  expect(rendered.tool_plan ?? '').toBe(list(source.tool_calls).length > 0 ? plan : '')
  expect(textOf(rendered.content, 'thinking')).toBe(thinking)
}

const rendersBack = (message: Json): Json => {
  const messages = [{ role: 'user', content: 'q' }, message]
  const chat = ChatRequestSchema.parse({ model: 'a/b', messages })
  const target = { upstreamModel: 'command-a-03-2025', maxOutputTokens: null }
  const body = JSON.parse(dialect.renderRequest(chat, target).body) as Json
  expect(cohereRequestComplaints(body)).toEqual([])
  return list(body.messages)[1] ?? {}
}

const checkWhole = (body: string): void => {
  const { answer, usage } = dialect.parseResponse(body)
  expect(answerComplaints(answer)).toEqual([])
  const source = JSON.parse(body) as Json
  const [choice] = answer.choices
  expect(choice?.native_finish_reason).toBe(source.finish_reason)
  expect(choice?.finish_reason).not.toBe('error')
  expectSameAnswer({ ...choice?.message }, source.message as Json)
  expectSameUsage(source.usage, usage)
  tally.answers++
}

/** The message of a streamed answer, put together by hand. */
const messageOf = (events: readonly Json[]): Json => {
  let plan = ''
  const content: Json[] = []
  const calls: { id: unknown; function: { name: unknown; arguments: string } }[] = []
  const citations: unknown[] = []
  for (const event of events) {
    const delta = field(event, 'delta', 'message')
    plan += field(delta, 'tool_plan') ?? ''
    for (const type of ['text', 'thinking']) {
      const text = field(delta, 'content', type)
      if (text !== undefined) content.push({ type, [type]: text })
    }
    const call = field(delta, 'tool_calls')
    const written = String(field(call, 'function', 'arguments') ?? '')
    if (event.type === 'tool-call-start')
      calls.push({
        id: field(call, 'id'),
        function: { name: field(call, 'function', 'name'), arguments: written },
      })
    const open = calls.at(-1)
    if (event.type === 'tool-call-delta' && open) open.function.arguments += written
    if (event.type === 'citation-start') citations.push(field(delta, 'citations'))
  }
  return { tool_plan: plan, content, tool_calls: calls, citations }
}

const sourceEvents = (text: string): Json[] =>
  [...text.matchAll(/^data: ?(\{.*)$/gm)].map(match => JSON.parse(match[1] ?? '') as Json)

const checkStream = (text: string): void => {
  const bytes = Buffer.from(text)
  const outcome = run(dialect, [bytes])
  expect(outcome.ending).toBe('done')
  const chunks = chunksOf(outcome)
  for (const chunk of chunks) expect(chunkComplaints(chunk)).toEqual([])
  const choices = chunks.flatMap(chunk => chunk.choices)
  expect(choices.filter(({ delta }) => delta.role !== undefined)).toEqual([choices[0]])
  const source = sourceEvents(text)
  const end = source.findLast(({ type }) => type === 'message-end')
  expect(choices.at(-1)?.native_finish_reason).toBe(field(end, 'delta', 'finish_reason'))
  expectSameAnswer({ ...gather(chunks) }, messageOf(source))
  expectSameUsage(field(end, 'delta', 'usage'), outcome.events.at(-1)?.usage ?? null)
  expectSameWhenRecut(dialect, bytes, outcome)
  tally.answers++
  tally.cuts++
}

const modes: Record<string, string> = { REQUIRED: 'required', NONE: 'none' }

/** The request as a client of ours would have written it. */
const chatOf = ({ response_format: format, stop_sequences: stop, ...request }: Json): Json => {
  const schema = field(format, 'json_schema')
  const chat: Json = { ...request, model: `cohere/${request.model}` }
  if (request.tool_choice) chat.tool_choice = modes[String(request.tool_choice)]
  if (stop) chat.stop = stop
  if (schema) chat.response_format = { type: 'json_schema', json_schema: { name: 'n', schema } }
  return chat
}

/** A document in a tool's result is its text here: chat completions has no other form for it. */
const isSayable = (request: Json): boolean => !/"type": ?"document"/.test(JSON.stringify(request))

const checkRequest = (theirs: Json): void => {
  const chat = ChatRequestSchema.parse(chatOf(theirs))
  const target = { upstreamModel: String(theirs.model), maxOutputTokens: null }
  const ours = JSON.parse(dialect.renderRequest(chat, target).body) as Json
  expect(cohereRequestComplaints(ours)).toEqual([])
  const { stream, tools: theirTools, messages: theirMessages, ...others } = theirs
  const { stream: streamed, tools, messages, ...rest } = ours
  expect(streamed ?? false).toBe(stream ?? false)
  expect(rest).toEqual(others)
  expect(list(tools).map(tool => field(tool, 'function', 'name'))).toEqual(
    list(theirTools).map(tool => field(tool, 'function', 'name')),
  )
  expect(list(messages)).toEqual(
    list(theirMessages).map(message =>
      message.tool_calls
        ? {
            ...message,
            tool_calls: list(message.tool_calls).map(call => ({ type: 'function', ...call })),
          }
        : message,
    ),
  )
  tally.requests++
}

describeRecorded('recorded Cohere chats', () => {
  const all = interactions(/api\.cohere\.com\/v2\/chat/)
  const answers = all.filter(({ response }) => response.status < 300)
  const isStream = ({ response }: Interaction): boolean => response.body.text !== undefined
  const named = (some: Interaction[]) => some.map(one => [one.file, one] as const)
  const loose = (ending: string) =>
    looseAnswers(ending).filter(({ provider }) => provider === 'cohere')
  tally.recordings = all.length + loose('').length

  describe('requests, told in our words, are rendered as they were', () => {
    const requests = answers
      .map(({ file, request }) => [file, request.body.json as Json] as const)
      .filter(([, request]) => isSayable(request))
    test.each(requests)('%s', (_, theirs) => checkRequest(theirs))
    test('are many', () => expect(requests.length).toBeGreaterThan(40))
  })

  describe('whole answers', () => {
    test.each(named(answers.filter(one => !isStream(one))))('%s', (_, { response }) => {
      checkWhole(bodyText(response.body))
    })
    test.each(loose('.json').map(one => [one.file, one] as const))('%s', (_, { text }) => {
      checkWhole(text)
    })
  })

  describe('streams', () => {
    test.each(named(answers.filter(isStream)))('%s', (_, { response }) => {
      checkStream(bodyText(response.body))
    })
    test.each(loose('.chunks.txt').map(one => [one.file, one] as const))('%s', (_, { text }) => {
      const events = text.split('\n').filter(line => line.trim() !== '')
      checkStream(
        events.map(data => `event: ${field(JSON.parse(data), 'type')}\ndata: ${data}\n\n`).join(''),
      )
    })
  })

  describe('refusals', () => {
    const codes: Record<number, string> = {
      400: 'context_length_exceeded',
      401: 'provider_rejected_credentials',
      404: 'model_not_found',
    }
    const errors = (readJson('errors/http-errors.json') as RecordedError[]).filter(
      ({ provider }) => provider === 'cohere',
    )
    test.each(errors.map((one, i) => [i, one] as const))('%i', (_, recorded) => {
      const body = bodyText(recorded.response_body)
      const error = dialect.parseError(recorded.status, recorded.response_headers, body)
      expect(error.code).toBe(codes[recorded.status])
    })
  })

  afterAll(() => tallies.print())
})
