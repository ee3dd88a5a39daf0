/** Everything recorded of Responses APIs, whoever serves them, through the dialect, and turns that continue others. */
import { afterAll, describe, expect, test } from 'vitest'
import { encryptsReasoning } from '../../src/dialects/openai-models.ts'
import { openAiResponses as dialect } from '../../src/dialects/openai-responses.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { completionTokens, promptTokens, type Usage } from '../../src/wire/usage.ts'
import {
  bodyText,
  describeRecorded,
  type Interaction,
  interactions,
  looseAnswers,
  type RecordedError,
  readJson,
} from '../recordings.ts'
import { beyondUs, chatOf, essences, inputOf, list } from './openai-responses-chat.ts'
import { responsesRequestComplaints } from './openai-responses-schema.ts'
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

/** An oracle of its own, from the provider's numbers. */
const expectSameUsage = (provider: string, reported: unknown, usage: Usage | null): void => {
  const number = (...path: string[]): number => Number(field(reported, ...path) ?? 0)
  const cached = number('input_tokens_details', 'cached_tokens')
  const written = number('input_tokens_details', 'cache_write_tokens')
  expect(usage).toEqual({
    tokens: {
      input: number('input_tokens') - cached - written,
      output: number('output_tokens'),
      ...(cached > 0 && { cacheRead: cached }),
      ...(written > 0 && { cacheWrite: written }),
    },
    ...(number('output_tokens_details', 'reasoning_tokens') > 0 && {
      reasoning: number('output_tokens_details', 'reasoning_tokens'),
    }),
  })
  if (usage === null) return
  expect(promptTokens(usage) + completionTokens(usage)).toBe(number('total_tokens'))
  tallies.of(provider).usage++
}

const isOurs = ({ type }: Json): boolean =>
  ['message', 'reasoning', 'function_call', 'custom_tool_call'].includes(String(type))

const textOf = (items: readonly Json[]): string =>
  items
    .flatMap(({ type, content }) => (type === 'message' ? list(content) : []))
    .map(({ text }) => text ?? '')
    .join('')

/** Several messages of one answer are one to our client, so they come back as one. */
const asReplayed = (output: readonly Json[]): Json[] => {
  const items = essences(output.filter(isOurs))
  const text = textOf(output)
  const phase = items.findLast(item => item.phase)?.phase
  const message = { type: 'message', role: 'assistant', content: text, ...(phase ? { phase } : {}) }
  const first = items.findIndex(({ type }) => type === 'message')
  return items.flatMap((item, i) =>
    item.type !== 'message' ? [item] : i === first && text !== '' ? [message] : [],
  )
}

/** Sends a message of ours back, and looks at what becomes of it. */
const rendersBack = (message: Json): Json[] => {
  const chat = ChatRequestSchema.parse({
    model: 'a/b',
    messages: [{ role: 'user', content: 'q' }, message],
  })
  const target = { upstreamModel: 'gpt-5.6', maxOutputTokens: null }
  const request = JSON.parse(dialect.renderRequest(chat, target).body) as Json
  expect(responsesRequestComplaints(request)).toEqual([])
  return list(request.input).slice(1)
}

const reasoningOf = (output: readonly Json[]): string =>
  output
    .flatMap(item =>
      item.type === 'reasoning' ? [...list(item.content), ...list(item.summary)] : [],
    )
    .map(({ text }) => text)
    .filter(Boolean)
    .join('\n\n')

const expectSameAnswer = (message: Json, output: readonly Json[]): void => {
  expect(message.content ?? '').toBe(textOf(output))
  expect(message.reasoning ?? '').toBe(reasoningOf(output))
  const calls = output.filter(({ type }) => /^(function|custom_tool)_call$/.test(String(type)))
  expect(list(message.tool_calls).map(call => call.id)).toEqual(calls.map(call => call.call_id))
  const cited = output
    .flatMap(({ content }) => list(content))
    .flatMap(({ annotations }) => list(annotations))
    .filter(({ type }) => type === 'url_citation')
  expect(list(message.annotations)).toHaveLength(cited.length)
  for (const { url_citation: place } of list(message.annotations) as { url_citation: Json }[])
    expect(Number(place.end_index)).toBeLessThanOrEqual(textOf(output).length)
  const said = message.content || message.tool_calls || message.reasoning_details
  if (said)
    expect(rendersBack({ ...message, content: message.content ?? null })).toEqual(
      asReplayed(output),
    )
}

const checkWhole = (provider: string, body: string): void => {
  const { answer, usage } = dialect.parseResponse(body)
  expect(answerComplaints(answer)).toEqual([])
  const source = JSON.parse(body) as Json
  const [choice] = answer.choices
  expect(choice?.finish_reason).not.toBe('error')
  expectSameAnswer({ ...choice?.message }, list(source.output))
  expectSameUsage(provider, source.usage, usage)
  tallies.of(provider).answers++
}

const sourceEvents = (text: string): Json[] =>
  [...text.matchAll(/^data: ?(\{.*)$/gm)].map(match => JSON.parse(match[1] ?? '') as Json)

/** Items as their own last event tells them: some servers leave them out of the response's end. */
const outputOf = (events: readonly Json[]): Json[] => {
  const items: Json[] = []
  for (const event of events)
    if (event.type === 'response.output_item.done')
      items[Number(event.output_index)] = event.item as Json
  return items.filter(Boolean)
}

/** `gather` knows calls of functions; those of custom tools have a text in place of arguments. */
const withCustomCalls = (message: object, chunks: ReturnType<typeof chunksOf>): Json => {
  const calls = list(field(message, 'tool_calls'))
  for (const { index, custom } of chunks
    .flatMap(({ choices }) => choices)
    .flatMap(({ delta }) => delta.tool_calls ?? [])) {
    if (custom === undefined) continue
    const { name = '', input = '' } = (calls[index]?.custom ?? {}) as Json
    const told = {
      name: `${name}${field(custom, 'name') ?? ''}`,
      input: `${input}${field(custom, 'input') ?? ''}`,
    }
    calls[index] = { id: calls[index]?.id, type: 'custom', custom: told }
  }
  return { ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

const checkStream = (provider: string, text: string): void => {
  const bytes = Buffer.from(text)
  const outcome = run(dialect, [bytes])
  expect(outcome.ending).toBe('done')
  const chunks = chunksOf(outcome)
  // OpenAI's schema of chunks knows calls of functions only, though its API streams those of custom tools.
  const odd = chunks.flatMap(chunkComplaints).filter(one => !/tool_calls\/\d+\/type/.test(one))
  expect(odd).toEqual([])
  const choices = chunks.flatMap(chunk => chunk.choices)
  expect(choices.filter(({ delta }) => delta.role !== undefined)).toEqual([choices[0]])
  expect(choices[0]?.delta).toMatchObject({ content: expect.any(String) })
  expect(choices.at(-1)?.finish_reason).toMatch(/^(stop|tool_calls|length)$/)
  const source = sourceEvents(text)
  const phase = choices.map(({ delta }) => delta.phase).findLast(Boolean)
  const message = { ...withCustomCalls(gather(chunks), chunks), ...(phase ? { phase } : {}) }
  expectSameAnswer(message, outputOf(source))
  const end = source.findLast(({ type }) => /completed|incomplete/.test(String(type)))
  expectSameUsage(provider, field(end, 'response', 'usage'), outcome.events.at(-1)?.usage ?? null)
  expectSameWhenRecut(dialect, bytes, outcome)
  tallies.of(provider).answers++
  tallies.of(provider).cuts++
}

/**
 * What an application sent to OpenAI itself is what OpenAI gets through the gateway, later turns with their reasoning
 * and results included.
 */
const checkRequest = (provider: string, theirs: Json): void => {
  const chat = ChatRequestSchema.parse(chatOf(theirs))
  const target = { upstreamModel: String(theirs.model), maxOutputTokens: null }
  const ours = JSON.parse(dialect.renderRequest(chat, target).body) as Json
  expect(responsesRequestComplaints(ours)).toEqual([])
  expect(essences(list(ours.input))).toEqual(essences(inputOf(theirs)))
  expect(list(ours.tools)).toEqual(
    list(theirs.tools).map(({ strict = false, description, ...tool }) => ({
      ...tool,
      ...(description ? { description } : {}),
      strict,
    })),
  )
  expect(ours.tool_choice).toBe(list(theirs.tools).length > 0 ? theirs.tool_choice : undefined)
  expect(field(ours, 'text', 'format')).toEqual(field(theirs, 'text', 'format'))
  expect(field(ours, 'reasoning', 'effort')).toBe(field(theirs, 'reasoning', 'effort'))
  expect(ours.max_output_tokens).toBe(theirs.max_output_tokens)
  if (encryptsReasoning(String(theirs.model)))
    expect(ours.include).toEqual(expect.arrayContaining(list(theirs.include)))
  tallies.of(provider).requests++
}

/** Some files hold several answers, one after the other. */
const framed = (text: string): string[] => {
  const streams: string[] = []
  let open = ''
  for (const line of text.split('\n').filter(one => one.trim() !== '')) {
    const type = /"type": ?"([\w.]+)"/.exec(line)?.[1] ?? ''
    open += `event: ${type}\ndata: ${line}\n\n`
    if (!/^response\.(completed|incomplete|failed)$/.test(type)) continue
    streams.push(open)
    open = ''
  }
  return streams
}

describeRecorded('recorded Responses', () => {
  const all = interactions(/\/responses(\?|$)/)
  const answers = all.filter(({ response }) => response.status < 300)
  const isStream = ({ response }: Interaction): boolean => response.body.text !== undefined
  const named = (some: Interaction[]) => some.map(one => [one.file, one] as const)
  for (const { provider } of all) tallies.of(provider).recordings++

  describe('requests, told in our words, are rendered as they were', () => {
    const requests = answers.filter(({ request }) => {
      const body = request.body.json
      return body !== undefined && !beyondUs.test(JSON.stringify(body))
    })
    test.each(named(requests))('%s', (_, { provider, request }) => {
      checkRequest(provider, request.body.json as Json)
    })
    test('are many', () => expect(requests.length).toBeGreaterThan(80))
  })

  describe('whole answers', () => {
    test.each(named(answers.filter(one => !isStream(one))))('%s', (_, { provider, response }) => {
      checkWhole(provider, bodyText(response.body))
    })
    const loose = looseAnswers('.json').filter(({ text }) => /"object": ?"response"/.test(text))
    for (const { provider } of loose) tallies.of(provider).recordings++
    test.each(loose.map(one => [one.file, one] as const))('%s', (_, { provider, text }) => {
      checkWhole(provider, text)
    })
  })

  describe('streams', () => {
    test.each(named(answers.filter(isStream)))('%s', (_, { provider, response }) => {
      checkStream(provider, bodyText(response.body))
    })
    const loose = looseAnswers('.chunks.txt').filter(({ text }) => /response\.created/.test(text))
    for (const { provider } of loose) tallies.of(provider).recordings++
    const whole = loose.filter(({ file }) => !/error|phase|wrapper/.test(file))
    const wireOf = (name: RegExp): Buffer =>
      Buffer.from(framed(loose.find(({ file }) => name.test(file))?.text ?? '').join(''))

    test.each(whole.map(one => [one.file, one] as const))('%s', (_, { provider, text }) => {
      const streams = framed(text)
      expect(streams.length).toBeGreaterThan(0)
      for (const stream of streams) checkStream(provider, stream)
    })

    test('an error amid the answer is that error', () => {
      const bytes = wireOf(/error/)
      const outcome = run(dialect, [bytes])
      expect(outcome.ending).toMatch(/^provider_unavailable/)
      expectSameWhenRecut(dialect, bytes, outcome)
    })

    test('an event that is not JSON is an error, not silence', () => {
      expect(run(dialect, [wireOf(/wrapper/)]).ending).toMatch(/^provider_invalid_response/)
    })

    // Its file leaves most of the deltas out, so its text can't be held against the whole one.
    test('says which message is for the user', () => {
      const chunks = chunksOf(run(dialect, [wireOf(/phase/)]))
      const phases = chunks.flatMap(({ choices }) => choices[0]?.delta.phase ?? [])
      expect(phases).toEqual(['commentary', 'final_answer'])
    })
  })

  describe('refusals', () => {
    const errors = (readJson('errors/http-errors.json') as RecordedError[]).filter(({ url }) =>
      /\/responses/.test(url),
    )
    const codeOf = (body: string): string => {
      if (/api.key|authentication token/i.test(body)) return 'provider_rejected_credentials'
      if (/model_not_found|Model not found/.test(body)) return 'model_not_found'
      return /context_length/.test(body) ? 'context_length_exceeded' : 'invalid_request'
    }
    test.each(errors.map((one, i) => [i, one] as const))('%i', (_, recorded) => {
      const body = bodyText(recorded.response_body)
      const error = dialect.parseError(recorded.status, recorded.response_headers, body)
      expect(error.code).toBe(codeOf(body))
    })
    test('are some', () => expect(errors.length).toBeGreaterThan(10))
  })

  afterAll(() => tallies.print())
})
