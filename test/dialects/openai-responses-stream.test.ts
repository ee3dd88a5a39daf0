import { describe, expect, test } from 'vitest'
import { openAiResponses as dialect } from '../../src/dialects/openai-responses.ts'
import { reasoningItems } from '../../src/dialects/openai-responses-reasoning.ts'
import { chunksOf, gather, type Json, run } from './proof.ts'

const frame = (event: Json): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const read = (...events: Json[]) => run(dialect, [Buffer.from(events.map(frame).join(''))])

const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }
const end = (status = 'completed', fields: Json = {}): Json => ({
  type: `response.${status}`,
  response: { status, usage, output: [], ...fields },
})
const added = (item: Json, at = 0): Json => ({
  type: 'response.output_item.added',
  output_index: at,
  item,
})
const done = (item: Json, at = 0): Json => ({
  ...added(item, at),
  type: 'response.output_item.done',
})
const text = (delta: string, at = 0, more: Json = {}): Json => ({
  type: 'response.output_text.delta',
  output_index: at,
  content_index: 0,
  delta,
  ...more,
})
const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
const last = (outcome: ReturnType<typeof read>) => chunksOf(outcome).at(-1)?.choices[0]

describe('what no delta has told is told at the end of its item', () => {
  const said = { ...message, content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }
  const call = { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"a":1}' }
  const reasoning = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content: 'AAA',
  }
  const wanted = {
    content: 'Hi',
    reasoning: 'Hm.',
    tool_calls: [{ id: 'call_1', function: { name: 'weather', arguments: '{"a":1}' } }],
    reasoning_details: [
      { type: 'reasoning.summary', summary: 'Hm.', index: 0, id: 'rs_1' },
      { type: 'reasoning.encrypted', data: 'AAA', index: 0, id: 'rs_1' },
    ],
  }

  test('where only whole items come', () => {
    const outcome = read(done(reasoning), done(said, 1), done(call, 2), end())
    expect(gather(chunksOf(outcome))).toMatchObject(wanted)
    expect(last(outcome)?.finish_reason).toBe('tool_calls')
  })

  test('where all comes in the last event', () => {
    const outcome = read(end('completed', { output: [reasoning, said, call] }))
    expect(gather(chunksOf(outcome))).toMatchObject(wanted)
  })

  test('and not twice', () => {
    const outcome = read(
      added(message),
      text('Hi'),
      done(said),
      end('completed', { output: [said] }),
    )
    expect(gather(chunksOf(outcome)).content).toBe('Hi')
  })

  test('with an empty object for a function without arguments', () => {
    const none = { ...call, arguments: '' }
    expect(gather(chunksOf(read(added(none), done(none), end()))).tool_calls).toMatchObject([
      { function: { arguments: '{}' } },
    ])
  })
})

test('parts of a summary are told apart, in the text and in what comes back', () => {
  const summary = (delta: string, part: number): Json => ({
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    summary_index: part,
    delta,
  })
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'AAA' }
  const outcome = read(
    added({ ...item, encrypted_content: '' }),
    summary('one ', 0),
    summary('whole', 0),
    summary('second', 1),
    done(item),
    end(),
  )
  const { reasoning, reasoning_details } = gather(chunksOf(outcome))
  expect(reasoning).toBe('one whole\n\nsecond')
  expect(reasoningItems(reasoning_details)).toEqual([
    {
      place: 0,
      item: {
        ...item,
        summary: [
          { type: 'summary_text', text: 'one whole' },
          { type: 'summary_text', text: 'second' },
        ],
      },
    },
  ])
})

test('logprobs stand with their text', () => {
  const logprobs = [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }]
  const [first] = chunksOf(read(added(message), text('Hi', 0, { logprobs }), end()))
  expect(first?.choices[0]).toMatchObject({
    delta: { role: 'assistant', content: 'Hi' },
    logprobs: { content: logprobs },
  })
})

test.each([
  ['completed', {}, 'stop', 'completed'],
  [
    'incomplete',
    { incomplete_details: { reason: 'max_output_tokens' } },
    'length',
    'max_output_tokens',
  ],
  [
    'incomplete',
    { incomplete_details: { reason: 'content_filter' } },
    'content_filter',
    'content_filter',
  ],
  ['incomplete', { incomplete_details: { reason: 'whim' } }, 'error', 'whim'],
])('%s %j ends as %s', (status, fields, finish_reason, native_finish_reason) => {
  const outcome = read(added(message), text('Hi'), end(status, fields))
  expect(last(outcome)).toMatchObject({ finish_reason, native_finish_reason })
  expect(outcome.events.at(-1)?.usage?.tokens).toEqual({ input: 5, output: 3 })
})

describe('a failure', () => {
  const failed = (code: string): Json => ({
    type: 'response.failed',
    response: { status: 'failed', error: { code, message: 'm' } },
  })
  test.each([
    [failed('server_error'), /^provider_error/],
    [failed('rate_limit_exceeded'), /^provider_rate_limited/],
    [{ type: 'error', code: 'server_error', message: 'm', param: null }, /^provider_error/],
    [{ type: 'response.output_text.delta', delta: 'x' }, /^provider_invalid_response/],
    [added(message, -1), /^provider_invalid_response/],
    [added(message, 1e9), /^provider_invalid_response/],
  ])('%j is told after what came before it', (event, ending) => {
    const outcome = read(added(message), text('Hi'), event)
    expect(outcome.ending).toMatch(ending)
    expect(gather(chunksOf(outcome)).content).toBe('Hi')
  })

  test('is an answer that just stops', () => {
    expect(read(added(message), text('Hi')).ending).toMatch(/^provider_invalid_response/)
  })

  test('is what comes whole and says so', () => {
    const body = JSON.stringify({ status: 'failed', error: { code: 'server_error', message: 'm' } })
    expect(() => dialect.parseResponse(body)).toThrow('The provider failed to answer this request.')
    for (const broken of ['x', '[]', '{}', '{"output":1}'])
      expect(() => dialect.parseResponse(broken)).toThrow('does not understand')
  })
})

test('unknown events and items are skipped', () => {
  const outcome = read(
    { type: 'keepalive' },
    added({ type: 'web_search_call', id: 'ws_1' }),
    { type: 'response.web_search_call.searching', output_index: 0 },
    done({ type: 'web_search_call', id: 'ws_1' }),
    added(message, 1),
    text('Hi', 1),
    end(),
  )
  expect(outcome.ending).toBe('done')
  expect(gather(chunksOf(outcome))).toEqual({ role: 'assistant', content: 'Hi', refusal: null })
})
