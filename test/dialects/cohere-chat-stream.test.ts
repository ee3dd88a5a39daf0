import { describe, expect, test } from 'vitest'
import { cohereChat as dialect } from '../../src/dialects/cohere-chat.ts'
import {
  chunkComplaints,
  chunksOf,
  expectSameWhenRecut,
  gather,
  type Json,
  type Outcome,
  run,
} from './proof.ts'

const usage = {
  billed_units: { input_tokens: 3, output_tokens: 9 },
  tokens: { input_tokens: 500, output_tokens: 20, reasoning_tokens: 4 },
  cached_tokens: 480,
}

describe('a stream', () => {
  const stream = (events: readonly (Json | string)[]): Outcome => {
    const bytes = Buffer.from(
      events
        .map(event =>
          typeof event === 'string'
            ? event
            : `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
        )
        .join(''),
    )
    const outcome = run(dialect, [bytes])
    expectSameWhenRecut(dialect, bytes, outcome)
    for (const chunk of chunksOf(outcome)) expect(chunkComplaints(chunk)).toEqual([])
    return outcome
  }
  const start = { type: 'message-start', id: 'a', delta: { message: { role: 'assistant' } } }
  const piece = (content: Json, more: Json = {}) => ({
    type: 'content-delta',
    index: 0,
    delta: { message: { content } },
    ...more,
  })
  const end = (reason: string, more: Json = {}) => ({
    type: 'message-end',
    delta: { finish_reason: reason, usage, ...more },
  })
  const call = (type: string, fields: Json) => ({
    type,
    index: 3,
    delta: { message: { tool_calls: fields } },
  })

  test('passes text as it is written', () => {
    const said = ['a"b', '\\n\n', 'é👋', '', '}}}}', '\u0001']
    const outcome = stream([
      start,
      ...said.map(text => piece({ text })),
      end('COMPLETE'),
      'data: [DONE]\n\n',
    ])
    expect(gather(chunksOf(outcome)).content).toBe(said.join(''))
    expect(outcome.ending).toBe('done')
    expect(outcome.events.filter(({ text }) => text)).toHaveLength(3)
    expect(outcome.events.at(-1)?.usage?.tokens).toEqual({ input: 3, output: 9 })
  })

  test('tells reasoning before a plan, as a whole answer does', () => {
    const plan = (text: string) => ({
      type: 'tool-plan-delta',
      delta: { message: { tool_plan: text } },
    })
    const outcome = stream([
      start,
      piece({ thinking: 'h' }),
      piece({ thinking: 'm' }),
      plan('I '),
      plan('will'),
      call('tool-call-start', { function: { name: 'f', arguments: '' } }),
      { type: 'tool-call-end', index: 3 },
      end('TOOL_CALL'),
    ])
    expect(gather(chunksOf(outcome))).toMatchObject({
      reasoning: 'hm\nI will',
      tool_calls: [{ id: 'call_a_0', function: { name: 'f', arguments: '{}' } }],
    })
  })

  test('gives probabilities with their text', () => {
    const logprobs = { text: 'a', token_ids: [1], logprobs: [-0.5] }
    const outcome = stream([
      start,
      piece({ text: 'a' }),
      piece({ text: 'b' }, { logprobs }),
      end('COMPLETE'),
    ])
    expect(chunksOf(outcome)[1]?.choices[0]?.logprobs).toMatchObject({
      content: [{ logprob: -0.5 }],
    })
  })

  test.each<[string, (Json | string)[], RegExp]>([
    ['breaks off', [start, piece({ text: 'a' })], /^provider_invalid_response/],
    [
      'ends without a reason',
      [start, piece({ text: 'a' }), 'data: [DONE]\n\n'],
      /^provider_invalid_response/,
    ],
    ['fails at its end', [start, end('ERROR', { error: 'boom' })], /^provider_error/],
    ['runs out of time', [start, end('TIMEOUT', { error: 'too long' })], /^provider_timeout/],
    [
      'has a bare failure',
      [start, 'data: {"message":"internal server error"}\n\n'],
      /^provider_error/,
    ],
    [
      'has arguments of no call',
      [start, call('tool-call-delta', {})],
      /^provider_invalid_response/,
    ],
    ['is not JSON', [start, 'data: {\n\n'], /^provider_invalid_response/],
  ])('that %s is an error', (_, events, ending) => {
    expect(stream(events).ending).toMatch(ending)
  })

  test('skips what it doesn’t know', () => {
    const outcome = stream([
      { type: 'debug', prompt: 'x' },
      start,
      { type: 'content-end', index: 0 },
      end('COMPLETE'),
    ])
    expect(outcome.ending).toBe('done')
    expect(gather(chunksOf(outcome)).content).toBe('')
  })
})
