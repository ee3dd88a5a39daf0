import { describe, expect, test } from 'vitest'
import { anthropicMessages as dialect } from '../../src/dialects/anthropic-messages.ts'
import { codeOf } from './code-of.ts'
import {
  answerComplaints,
  chunksOf,
  expectSameWhenRecut,
  gather,
  type Json,
  type Outcome,
  run,
} from './proof.ts'

const message = (fields: Json): string =>
  JSON.stringify({ type: 'message', content: [], stop_reason: 'end_turn', ...fields })
const parse = (fields: Json) => dialect.parseResponse(message(fields))

const wire = (events: readonly Json[]): string =>
  events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const stream = (events: readonly Json[]): Outcome => {
  const bytes = Buffer.from(wire(events))
  const outcome = run(dialect, [bytes])
  expectSameWhenRecut(dialect, bytes, outcome)
  return outcome
}

const start = (usage: Json = { input_tokens: 7, output_tokens: 1 }): Json => ({
  type: 'message_start',
  message: { id: 'msg_1', content: [], stop_reason: null, usage },
})
const open = (block: Json, index = 0): Json => ({
  type: 'content_block_start',
  index,
  content_block: block,
})
const delta = (fields: Json, index = 0): Json => ({
  type: 'content_block_delta',
  index,
  delta: fields,
})
const close = (index = 0): Json => ({ type: 'content_block_stop', index })
const stop = (reason: string | null, usage?: Json): Json => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  ...(usage ? { usage } : {}),
})
const text = { type: 'text', text: '' }
const saying = (said: string) => [open(text), delta({ type: 'text_delta', text: said }), close()]
const end = { type: 'message_stop' }
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
  ['something_new', 'error'],
  [null, 'error'],
])('%s is finish reason %s', (native, ours) => {
  const [choice] = parse({ stop_reason: native }).answer.choices
  expect(choice).toMatchObject({ finish_reason: ours, native_finish_reason: native })
})

test('an answer without text has null beside calls, and an empty text else', () => {
  const call = { type: 'tool_use', id: 'a', name: 'f', input: { b: [1] } }
  const called = parse({ content: [call], stop_reason: 'tool_use' }).answer
  expect(called.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { content: null, tool_calls: [{ id: 'a', function: { arguments: '{"b":[1]}' } }] },
  })
  expect(parse({}).answer.choices[0]?.message.content).toBe('')
})

test('what was written into our own tool is the answer', () => {
  const call = { type: 'tool_use', id: 'a', name: 'tollgate_json_answer', input: { a: 1 } }
  const [choice] = parse({ content: [call], stop_reason: 'tool_use' }).answer.choices
  expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: '{"a":1}' } })
  expect(choice?.message).not.toHaveProperty('tool_calls')
  const streamed = stream([
    start(),
    open({ ...call, input: {} }),
    delta({ type: 'input_json_delta', partial_json: '{"a"' }),
    delta({ type: 'input_json_delta', partial_json: ':1}' }),
    close(),
    stop('tool_use'),
    end,
  ])
  expect(gather(chunksOf(streamed)).content).toBe('{"a":1}')
  expect(chunksOf(streamed).at(-1)?.choices[0]?.finish_reason).toBe('stop')
})

test('sources with an address are annotations of the text they stand in, others keep their own form', () => {
  const web = { type: 'web_search_result_location', url: 'https://a', title: 'A', cited_text: 'c' }
  const page = { type: 'page_location', document_index: 0, start_page_number: 1 }
  const content = [
    { type: 'text', text: 'one ' },
    { type: 'text', text: 'two', citations: [web, page] },
  ]
  const { answer } = parse({ content })
  expect(answerComplaints(answer)).toEqual([])
  const cited = {
    annotations: [
      {
        type: 'url_citation',
        url_citation: { url: 'https://a', title: 'A', start_index: 4, end_index: 7, content: 'c' },
      },
    ],
    citations: [{ ...page, start_index: 4, end_index: 7 }],
  }
  expect(answer.choices[0]?.message).toMatchObject(cited)
  const streamed = stream([
    start(),
    ...saying('one '),
    open({ ...text, citations: [] }, 1),
    delta({ type: 'citations_delta', citation: web }, 1),
    delta({ type: 'text_delta', text: 'two' }, 1),
    delta({ type: 'citations_delta', citation: page }, 1),
    close(1),
    stop('end_turn'),
    end,
  ])
  expect(gather(chunksOf(streamed))).toMatchObject({ content: 'one two', ...cited })
})

describe('usage', () => {
  const read = (usage: unknown) => parse({ usage }).usage

  test('tells what is written to the cache by how long it stays there', () => {
    expect(
      read({
        input_tokens: 1,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 5,
        output_tokens_details: { thinking_tokens: 4 },
        server_tool_use: { web_search_requests: 1 },
      }),
    ).toEqual({
      tokens: { input: 1, cacheRead: 2, cacheWrite: 10, cacheWrite1h: 20, output: 5 },
      reasoning: 4,
      counts: { webSearch: 1 },
    })
  })

  test('that is none, or absurd, is none', () => {
    for (const usage of [
      undefined,
      {},
      { input_tokens: -1, output_tokens: 1 },
      { input_tokens: 1.5 },
    ])
      expect(read(usage)).toBeNull()
  })

  test('of a stream runs until its end, which may correct the input', () => {
    const { events } = stream([
      start({ input_tokens: 100, output_tokens: 1 }),
      ...saying('a'),
      stop('end_turn', { input_tokens: 0, cache_read_input_tokens: 100, output_tokens: 9 }),
      end,
    ])
    expect(events[0]).toEqual({ usage: { tokens: { input: 100, output: 1 } }, running: true })
    const last = events.findLast(({ usage }) => usage)
    expect(last?.usage).toEqual({ tokens: { input: 0, cacheRead: 100, output: 9 } })
    expect(last?.running).toBeUndefined()
  })

  test('keeps the input where the end tells none', () => {
    const { events } = stream([
      start(),
      ...saying('a'),
      stop('end_turn', { input_tokens: 0, output_tokens: 9 }),
      end,
    ])
    expect(events.at(-1)?.usage).toEqual({ tokens: { input: 7, output: 9 } })
  })
})

describe('a stream', () => {
  test('passes text as it is written, quotes, escapes and all', () => {
    const said = ['a"b', '\\', 'é\n\u2028', '', '👋', '}}', '\u0001']
    const outcome = stream([
      start(),
      open(text),
      { type: 'ping' },
      ...said.map(one => delta({ type: 'text_delta', text: one })),
      close(),
      stop('end_turn'),
      end,
    ])
    expect(gather(chunksOf(outcome)).content).toBe(said.join(''))
    expect(outcome.events.filter(event => event.text)).toHaveLength(4)
  })

  test('is read the same in any order of keys', () => {
    const shuffled = {
      index: 0,
      delta: { text: 'x', type: 'text_delta' },
      type: 'content_block_delta',
    }
    const outcome = stream([
      start(),
      open(text),
      shuffled,
      shuffled,
      close(),
      stop('end_turn'),
      end,
    ])
    expect(gather(chunksOf(outcome)).content).toBe('xx')
  })

  test('gives a call without parameters an empty object', () => {
    const tool = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
    const outcome = stream([
      start(),
      open(tool('a')),
      close(),
      open(tool('b'), 1),
      close(1),
      stop('tool_use'),
      end,
    ])
    expect(gather(chunksOf(outcome)).tool_calls).toMatchObject([
      { id: 'a', function: { name: 'f', arguments: '{}' } },
      { id: 'b', function: { name: 'f', arguments: '{}' } },
    ])
  })

  test('skips what it doesn’t know', () => {
    const outcome = stream([
      { type: 'something_new' },
      start(),
      open({ type: 'new_block' }),
      delta({ type: 'new_delta' }),
      close(),
      ...saying('a'),
      stop(null, { output_tokens: 3 }),
      stop('end_turn'),
      end,
    ])
    expect(outcome.ending).toBe('done')
    expect(gather(chunksOf(outcome)).content).toBe('a')
  })

  test('tells why it was refused', () => {
    const details = { stop_details: { type: 'refusal', explanation: 'Too risky.' } }
    const refused = { type: 'message_delta', delta: { stop_reason: 'refusal', ...details } }
    const outcome = stream([start(), refused, end])
    expect(chunksOf(outcome)).toMatchObject([
      {
        choices: [
          { delta: { role: 'assistant', refusal: 'Too risky.' }, finish_reason: 'content_filter' },
        ],
      },
    ])
  })

  test('hands out what came before a failure, then fails with its code', () => {
    const outcome = stream([start(), ...saying('a'), overloaded])
    expect(outcome.ending).toMatch(/^provider_unavailable: /)
    expect(gather(chunksOf(outcome)).content).toBe('a')
    expect(stream([overloaded])).toMatchObject({
      events: [],
      ending: expect.stringMatching(/^provider_unavailable/),
    })
  })

  test.each<[string, Json[]]>([
    ['breaks off', [start(), ...saying('a')]],
    ['breaks off after its reason', [start(), ...saying('a'), stop('end_turn')]],
    ['ends without a reason', [start(), ...saying('a'), end]],
    ['has a delta without a block', [start(), delta({ type: 'text_delta', text: 'x' })]],
    ['has an index that is none', [start(), open(text, -1)]],
  ])('that %s is an error', (_, events) => {
    expect(stream(events).ending).toMatch(/^provider_invalid_response: /)
  })

  test('that is not JSON is an error', () => {
    const outcome = run(dialect, [Buffer.from('event: message_start\ndata: {"type":\n\n')])
    expect(outcome.ending).toMatch(/^provider_invalid_response: /)
  })
})

test.each([
  ['nonsense', '<html>', 'provider_invalid_response'],
  ['a list', '[]', 'provider_invalid_response'],
  ['no content', '{"type":"message"}', 'provider_invalid_response'],
  ['an error behind a 200', JSON.stringify(overloaded), 'provider_unavailable'],
])('%s is no answer', (_, body, code) => {
  expect(codeOf(() => dialect.parseResponse(body))).toBe(code)
})

describe('refusals', () => {
  const code = (status: number, type: string, said: string, more: Json = {}) =>
    dialect.parseError(
      status,
      { 'retry-after': '7' },
      JSON.stringify({ type: 'error', error: { type, message: said, ...more } }),
    )

  test.each<[number, string, string, string, Json?]>([
    [400, 'invalid_request_error', 'messages: at least one message is required', 'invalid_request'],
    [
      400,
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 1 + 2 > 2',
      'context_length_exceeded',
    ],
    [
      400,
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API.',
      'provider_unavailable',
    ],
    [402, 'billing_error', 'x', 'provider_unavailable'],
    [403, 'permission_error', 'x', 'provider_rejected_credentials'],
    [413, 'request_too_large', 'x', 'request_too_large'],
    [429, 'rate_limit_error', 'x', 'provider_rate_limited'],
    [
      429,
      'rate_limit_error',
      'x',
      'provider_unavailable',
      { details: { error_code: 'enforced_spend_limit_reached' } },
    ],
    [500, 'api_error', 'x', 'provider_error'],
    [504, 'timeout_error', 'x', 'provider_timeout'],
    [529, 'overloaded_error', 'Overloaded', 'provider_unavailable'],
  ])('%i %s: %s', (status, type, said, wanted, more) => {
    const error = code(status, type, said, more)
    expect(error.code).toBe(wanted)
    expect(error.headers['retry-after']).toBe('7')
  })
})
