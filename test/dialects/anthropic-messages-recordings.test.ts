/** Everything recorded of Anthropic's Messages API, through the dialect, and turns that continue an earlier one. */
import { afterAll, describe, expect, test } from 'vitest'
import { anthropicMessages as dialect } from '../../src/dialects/anthropic-messages.ts'
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
import { beyondUs, blocks, chatOf, list, turnsOf } from './anthropic-messages-chat.ts'
import {
  answerComplaints,
  chunkComplaints,
  chunksOf,
  complaints,
  expectSameWhenRecut,
  field,
  gather,
  type Json,
  run,
  Tallies,
  validatorOf,
} from './proof.ts'

const tallies = new Tallies()
const tally = tallies.of('anthropic')
const requestSchema = validatorOf('anthropic-messages.schema.json', 'CreateMessageParams')

/** An oracle of its own: the provider's numbers, the last told of each. */
const expectSameUsage = (reported: readonly unknown[], usage: Usage | null): void => {
  const number = (...path: string[]): number =>
    Number(reported.map(one => field(one, ...path)).findLast(one => one != null) ?? 0)
  expect(usage).not.toBeNull()
  if (usage === null) return
  const created = number('cache_creation_input_tokens')
  const created1h = Math.min(number('cache_creation', 'ephemeral_1h_input_tokens'), created)
  expect({ ...usage.tokens }).toEqual({
    input: number('input_tokens'),
    output: number('output_tokens'),
    ...(number('cache_read_input_tokens') > 0 && { cacheRead: number('cache_read_input_tokens') }),
    ...(created - created1h > 0 && { cacheWrite: created - created1h }),
    ...(created1h > 0 && { cacheWrite1h: created1h }),
  })
  expect(promptTokens(usage)).toBe(
    number('input_tokens') + number('cache_read_input_tokens') + created,
  )
  expect(completionTokens(usage)).toBe(number('output_tokens'))
  expect(usage.reasoning ?? 0).toBe(number('output_tokens_details', 'thinking_tokens'))
  expect(usage.counts?.webSearch ?? 0).toBe(number('server_tool_use', 'web_search_requests'))
  tally.usage++
}

const kinds = (blocks: readonly Json[], ...types: string[]): Json[] =>
  blocks.filter(({ type }) => types.includes(String(type)))

/** The answer's own blocks, as a client that sends them back must find them again. */
const replayable = (blocks: readonly Json[]): Json[] => [
  ...kinds(blocks, 'thinking', 'redacted_thinking'),
  ...(textOf(blocks).trim() === '' ? [] : [{ type: 'text', text: textOf(blocks).trimEnd() }]),
  ...kinds(blocks, 'tool_use').map(({ type, id, name, input }) => ({ type, id, name, input })),
]

const textOf = (blocks: readonly Json[]): string =>
  kinds(blocks, 'text')
    .map(({ text }) => text)
    .join('')

/** Sends a message of ours back, and looks at what becomes of it. */
const rendersBack = (message: Json): Json[] => {
  const messages = [{ role: 'user', content: 'q' }, message]
  const chat = ChatRequestSchema.parse({ model: 'a/b', messages })
  const { body } = dialect.renderRequest(chat, {
    upstreamModel: 'claude-sonnet-5',
    maxOutputTokens: null,
  })
  const request = JSON.parse(body) as Json
  expect(complaints(requestSchema, request)).toEqual([])
  return list(field(list(request.messages)[1], 'content')).filter(Boolean)
}

const expectSameAnswer = (message: Json, blocks: readonly Json[]): void => {
  expect(message.content ?? '').toBe(textOf(blocks))
  expect(message.reasoning ?? '').toBe(
    kinds(blocks, 'thinking')
      .map(({ thinking }) => thinking)
      .join(''),
  )
  expect(list(message.tool_calls).map(call => field(call, 'id'))).toEqual(
    kinds(blocks, 'tool_use').map(({ id }) => id),
  )
  const cited = blocks.flatMap(({ citations }) => list(citations))
  expect(list(message.annotations)).toHaveLength(cited.filter(({ url }) => url).length)
  expect(list(message.citations)).toHaveLength(cited.filter(({ url }) => !url).length)
  for (const { url_citation: place } of list(message.annotations) as { url_citation: Json }[])
    expect(Number(place.end_index)).toBeLessThanOrEqual(textOf(blocks).length)
  const said = message.content !== '' || message.tool_calls || message.reasoning_details
  if (said) expect(rendersBack(message)).toEqual(replayable(blocks))
}

const checkWhole = (body: string): void => {
  const { answer, usage } = dialect.parseResponse(body)
  expect(answerComplaints(answer)).toEqual([])
  const source = JSON.parse(body) as Json
  const [choice] = answer.choices
  expect(choice?.native_finish_reason).toBe(source.stop_reason)
  expect(choice?.finish_reason).not.toBe('error')
  expectSameAnswer({ ...choice?.message }, list(source.content))
  expectSameUsage([source.usage], usage)
  tally.answers++
}

/** The blocks of a streamed answer, put together by hand. */
const blocksOf = (events: readonly Json[]): Json[] => {
  const blocks: Json[] = []
  let json = ''
  for (const event of events) {
    const at = blocks.length - 1
    if (event.type === 'message_start')
      blocks.push(...list(field(event, 'message', 'content')).map(block => ({ ...block })))
    if (event.type === 'content_block_start') {
      blocks.push({ ...(event.content_block as Json) })
      json = ''
    }
    const open = blocks[at]
    const delta = (event.delta ?? {}) as Json
    if (event.type !== 'content_block_delta' || open === undefined) continue
    if (delta.type === 'text_delta') open.text = `${open.text}${delta.text}`
    if (delta.type === 'thinking_delta') open.thinking = `${open.thinking}${delta.thinking}`
    if (delta.type === 'signature_delta') open.signature = delta.signature
    if (delta.type === 'citations_delta') open.citations = [...list(open.citations), delta.citation]
    if (delta.type === 'input_json_delta') {
      json += String(delta.partial_json)
      try {
        open.input = JSON.parse(json)
      } catch {
        // Not all of it has come.
      }
    }
  }
  return blocks
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
  expect(choices[0]?.delta).toMatchObject({ content: expect.any(String) })
  const source = sourceEvents(text)
  const stopped = source.flatMap(event => [
    field(event, 'delta', 'stop_reason') ?? field(event, 'message', 'stop_reason') ?? [],
  ])
  expect(choices.at(-1)?.native_finish_reason).toBe(stopped.flat().at(-1))
  expect(choices.at(-1)?.finish_reason).not.toBe('error')
  expectSameAnswer({ ...gather(chunks) }, blocksOf(source))
  const reported = source.map(event => field(event, 'message', 'usage') ?? event.usage)
  expectSameUsage(reported, outcome.events.findLast(({ usage }) => usage)?.usage ?? null)
  const [first] = outcome.events
  expect(first?.running).toBe(true)
  expect(first?.usage?.tokens.input).toBe(field(reported.find(Boolean), 'input_tokens'))
  expectSameWhenRecut(dialect, bytes, outcome)
  tally.answers++
  tally.cuts++
}

/** Some files hold several answers, one after the other. */
const streamsIn = (text: string): string[] => {
  const streams: string[] = []
  let open = ''
  for (const line of text.split('\n').filter(one => one.trim() !== '')) {
    open += `event: ${field(JSON.parse(line), 'type')}\ndata: ${line}\n\n`
    if (!/^\{"type": ?"message_stop"/.test(line)) continue
    streams.push(open)
    open = ''
  }
  return streams
}

/**
 * What an application sent to Anthropic itself is what Anthropic gets through the gateway, later turns with their
 * signatures and results included.
 */
const checkRequest = (theirs: Json): void => {
  const chat = ChatRequestSchema.parse(chatOf(theirs))
  const target = { upstreamModel: String(theirs.model), maxOutputTokens: null }
  const ours = JSON.parse(dialect.renderRequest(chat, target).body) as Json
  expect(complaints(requestSchema, ours)).toEqual([])
  expect(turnsOf(ours)).toEqual(turnsOf(theirs))
  expect(list(ours.system)).toEqual(blocks(theirs.system))
  const { disable_parallel_tool_use: serial, ...choice } = (theirs.tool_choice ?? {}) as Json
  const wanted = serial === true ? theirs.tool_choice : choice
  expect(ours.tool_choice ?? {}).toEqual(list(theirs.tools).length > 0 ? wanted : {})
  expect(list(ours.tools).map(({ name }) => name)).toEqual(
    list(theirs.tools).map(({ name }) => name),
  )
  tally.requests++
}

const isChat = ({ request }: Interaction): boolean => !/count_tokens/.test(request.url)

describeRecorded('recorded Anthropic messages', () => {
  const all = interactions(/api\.anthropic\.com\/v1\/messages/).filter(isChat)
  const answers = all.filter(({ response }) => response.status < 300)
  const isStream = ({ response }: Interaction): boolean => response.body.text !== undefined
  const named = (some: Interaction[]) => some.map(one => [one.file, one] as const)
  tally.recordings = all.length

  describe('requests, told in our words, are rendered as they were', () => {
    const requests = answers
      .map(({ file, request }) => [file, request.body.json as Json] as const)
      .filter(([, request]) => !beyondUs.test(JSON.stringify(request)))
    test.each(requests)('%s', (_, theirs) => checkRequest(theirs))
    test('are many', () => expect(requests.length).toBeGreaterThan(50))
  })

  describe('whole answers', () => {
    test.each(named(answers.filter(one => !isStream(one))))('%s', (_, { response }) => {
      checkWhole(bodyText(response.body))
    })
    const loose = looseAnswers('.json').filter(
      ({ provider, text }) => provider === 'anthropic' && /"type": ?"message"/.test(text),
    )
    tally.recordings += loose.length
    test.each(loose.map(one => [one.file, one] as const))('%s', (_, { text }) => {
      checkWhole(text)
    })
  })

  describe('streams', () => {
    test.each(named(answers.filter(isStream)))('%s', (_, { response }) => {
      checkStream(bodyText(response.body))
    })
    const loose = looseAnswers('.chunks.txt').filter(({ provider }) => provider === 'anthropic')
    const whole = loose.filter(({ file }) => !/spliced/.test(file))
    tally.recordings += loose.length
    test.each(whole.map(one => [one.file, one] as const))('%s', (_, { text }) => {
      const streams = streamsIn(text)
      expect(streams.length).toBeGreaterThan(0)
      for (const stream of streams) checkStream(stream)
    })

    test('two answers mixed into one are an error, not a guess', () => {
      const spliced = loose.find(({ file }) => /spliced/.test(file))
      const bytes = Buffer.from(streamsIn(spliced?.text ?? '').join(''))
      const outcome = run(dialect, [bytes])
      expect(outcome.ending).toMatch(/^provider_invalid_response/)
      expectSameWhenRecut(dialect, bytes, outcome)
    })
  })

  describe('refusals', () => {
    const errors = (readJson('errors/http-errors.json') as RecordedError[]).filter(
      ({ provider }) => provider === 'anthropic',
    )
    const codes: Record<number, string> = {
      400: 'invalid_request',
      401: 'provider_rejected_credentials',
      404: 'model_not_found',
    }
    test.each(errors.map((one, i) => [i, one] as const))('%i', (_, recorded) => {
      const body = bodyText(recorded.response_body)
      const error = dialect.parseError(recorded.status, recorded.response_headers, body)
      const overflow = /prompt is too long/.test(body)
      expect(error.code).toBe(overflow ? 'context_length_exceeded' : codes[recorded.status])
    })
  })

  afterAll(() => tallies.print())
})
