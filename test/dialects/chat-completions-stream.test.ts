import { describe, expect, test } from 'vitest'
import {
  chatCompletions,
  chatCompletionsWith,
  type Quirks,
} from '../../src/dialects/chat-completions.ts'
import type { StreamEvent } from '../../src/dialects/dialect.ts'
import { codeOf } from './code-of.ts'
import { inFull } from './in-full.ts'

const frame = (...data: (object | string)[]): string =>
  data.map(one => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('')

const delta = (content: object, finish: string | null = null, rest: object = {}) => ({
  id: 'chatcmpl-Ab9',
  choices: [{ index: 0, delta: content, finish_reason: finish }],
  ...rest,
})

const read = (text: string, quirks: Quirks = {}): { events: StreamEvent[]; ending: string } => {
  const reader = chatCompletionsWith(quirks).readStream()
  const events: StreamEvent[] = []
  const ending = codeOf(() => {
    events.push(...reader.push(Buffer.from(text)).map(inFull))
    events.push(...reader.end().map(inFull))
  })
  return { events, ending: ending === 'nothing thrown' ? (reader.done ? 'done' : 'open') : ending }
}

const deltas = (text: string) =>
  read(text).events.flatMap(({ chunk }) => chunk?.choices.map(one => one.delta) ?? [])

const cut = (text: string, at: readonly number[]): { events: StreamEvent[]; ending: string } => {
  const reader = chatCompletions.readStream()
  const bytes = Buffer.from(text)
  const events: StreamEvent[] = []
  const ending = codeOf(() => {
    for (const [i, start] of at.entries())
      events.push(...reader.push(bytes.subarray(start, at[i + 1] ?? bytes.length)).map(inFull))
    events.push(...reader.end().map(inFull))
  })
  return { events, ending: ending === 'nothing thrown' ? (reader.done ? 'done' : 'open') : ending }
}

describe('a stream', () => {
  test('tells the role once, and says null where there is nothing', () => {
    const text = frame(
      delta({ role: 'assistant', content: 'a' }, null, {
        system_fingerprint: 'fp',
        obfuscation: 'x',
      }),
      delta({ role: 'assistant', content: 'b' }),
      delta({ role: 'assistant', content: '' }),
      delta({ content: '' }, 'stop'),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      '[DONE]',
    )
    expect(read(text)).toEqual({
      ending: 'done',
      events: [
        {
          chunk: {
            choices: [
              {
                index: 0,
                delta: { role: 'assistant', content: 'a', refusal: null },
                logprobs: null,
                finish_reason: null,
              },
            ],
            system_fingerprint: 'fp',
          },
        },
        {
          chunk: {
            choices: [{ index: 0, delta: { content: 'b' }, logprobs: null, finish_reason: null }],
          },
        },
        {
          chunk: {
            choices: [
              {
                index: 0,
                delta: {},
                logprobs: null,
                finish_reason: 'stop',
                native_finish_reason: 'stop',
              },
            ],
          },
        },
        { usage: { tokens: { input: 1, output: 2 } } },
      ],
    })
  })

  test('finds usage beside the last choice, in x_groq and inside the choice', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 }
    for (const chunk of [
      delta({}, 'stop', { usage }),
      delta({}, 'stop', { x_groq: { usage } }),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] },
    ])
      expect(read(frame(chunk, '[DONE]')).events[0]?.usage).toEqual({
        tokens: { input: 1, output: 2 },
      })
  })

  const call = (fields: object) => delta({ tool_calls: [fields] })
  test.each([
    [
      "OpenAI's pieces",
      [
        call({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        call({ index: 0, function: { arguments: '{}' } }),
        call({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{' } }),
        call({ index: 1, function: { arguments: '}' } }),
      ],
    ],
    [
      'the same index for all',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
        call({ index: 0, function: { arguments: '{}' } }),
        call({ index: 0, id: 'b', function: { name: 'g', arguments: '{' } }),
        call({ index: 0, function: { arguments: '}' } }),
      ],
    ],
    [
      'no index',
      [
        call({ id: 'a', function: { name: 'f', arguments: '' } }),
        call({ function: { arguments: '{}' } }),
        call({ id: 'b', function: { name: 'g', arguments: '{' } }),
        call({ id: 'b', function: { arguments: '}' } }),
      ],
    ],
    [
      'indexes that start elsewhere, and repeated ids and names',
      [
        call({ index: 3, id: 'a', function: { name: 'f', arguments: '' } }),
        call({ index: 3, id: 'a', function: { name: 'f', arguments: '{}' } }),
        call({ index: 7, id: 'b', function: { name: 'g', arguments: '{' } }),
        call({ index: 7, id: 'b', function: { name: 'g', arguments: '}' } }),
      ],
    ],
  ])('puts together tool calls sent as %s', (_, chunks) => {
    expect(deltas(frame(...chunks, '[DONE]')).flatMap(one => one.tool_calls ?? [])).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 0, function: { arguments: '{}' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{' } },
      { index: 1, function: { arguments: '}' } },
    ])
  })

  test('gives a tool call without an id one of its own', () => {
    const text = frame(call({ function: { name: 'f', arguments: '{}' } }), '[DONE]')
    expect(deltas(text)[0]?.tool_calls).toEqual([
      {
        index: 0,
        id: 'call_chatcmplAb9_0_0',
        type: 'function',
        function: { name: 'f', arguments: '{}' },
      },
    ])
  })

  test('passes reasoning on under both names, and its details', () => {
    const details = [{ type: 'reasoning.encrypted', data: 's' }]
    const text = frame(
      delta({ content: '' }),
      delta({ reasoning_content: 'r', content: null, reasoning_details: details }),
      '[DONE]',
    )
    expect(deltas(text)[1]).toEqual({
      reasoning_content: 'r',
      reasoning: 'r',
      reasoning_details: details,
    })
  })

  test.each([
    [
      'an end without its end',
      frame(delta({ content: 'a' }, 'stop')),
      1,
      'provider_invalid_response',
    ],
    ['no choice at all', frame('[DONE]'), 0, 'provider_invalid_response'],
    [
      'an event that is not JSON',
      frame(delta({ content: 'a' }), '{"choices":['),
      1,
      'provider_invalid_response',
    ],
    ['an event that is a list', frame('[]'), 0, 'provider_invalid_response'],
    [
      'a wild index',
      frame({ choices: [{ index: 1e9, delta: {} }] }),
      0,
      'provider_invalid_response',
    ],
    [
      'an error object',
      frame(delta({ content: 'a' }), { error: { code: 503 } }, '[DONE]'),
      1,
      'provider_unavailable',
    ],
    [
      'an error event',
      'event: error\ndata: {"message":"x","code":429}\n\n',
      0,
      'provider_rate_limited',
    ],
    ['an error event of no JSON', 'event: error\ndata: oops\n\n', 0, 'provider_error'],
    [
      'an error field',
      `${frame(delta({ content: 'a' }))}error: {"error":{"message":"full"}}\n\n`,
      1,
      'provider_error',
    ],
    [
      'unknown events',
      `event: ping\ndata: now\n\n: hi\n\n${frame(delta({ content: 'a' }), { kind: 'new' }, '[DONE]')}`,
      1,
      'done',
    ],
    [
      'bytes after its end',
      frame(delta({ content: 'a' }), '[DONE]', delta({ content: 'b' }), 'junk'),
      1,
      'done',
    ],
  ])('with %s', (_, text, events, ending) => {
    const got = read(text)
    expect([got.events.length, got.ending]).toEqual([events, ending])
    expect(cut(text, [...Buffer.from(text).keys()])).toEqual(got)
  })

  test('hands out the usage that came with an error before it throws', () => {
    const usage = { prompt_tokens: 43, completion_tokens: 10 }
    expect(
      read(
        frame(delta({ content: 'a' }), { error: { code: 400, message: 'x' }, usage, choices: [] }),
      ).events,
    ).toMatchObject([{ chunk: {} }, { usage: { tokens: { input: 43, output: 10 } } }])
  })

  test('without [DONE] is over when every choice is finished, where the provider sends none', () => {
    const quirks: Quirks = { endsWithoutDone: true }
    const two = {
      choices: [
        { index: 0, delta: {}, finish_reason: 'stop' },
        { index: 1, delta: {} },
      ],
    }
    expect(read(frame(two), quirks).ending).toBe('provider_invalid_response')
    const last = { choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] }
    expect(read(frame(two, last), quirks).ending).toBe('done')
    expect(read('', quirks).ending).toBe('provider_invalid_response')
  })
})
