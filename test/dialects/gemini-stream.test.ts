/** What recordings don't show: events unlike those around them, several candidates, refused prompts, failures. */
import { describe, expect, test } from 'vitest'
import { gemini as dialect } from '../../src/dialects/gemini.ts'
import { chunksOf, expectSameWhenRecut, gather, type Json, run } from './proof.ts'

const usage = (output: number) => ({
  promptTokenCount: 7,
  candidatesTokenCount: output,
  totalTokenCount: 7 + output,
})

const event = (parts: Json[], output: number, more: Json = {}): Json => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  usageMetadata: usage(output),
  modelVersion: 'gemini-3.5-flash',
  responseId: 'abc-123',
})

const read = (events: unknown[]) => {
  const bytes = Buffer.from(events.map(one => `data: ${JSON.stringify(one)}\r\n\r\n`).join(''))
  const outcome = run(dialect, [bytes])
  expectSameWhenRecut(dialect, bytes, outcome)
  return outcome
}

const text = (words: string): Json => ({ text: words })
const stop = { finishReason: 'STOP' }

describe('pieces of text', () => {
  test('take the short way once it is known', () => {
    const outcome = read([
      event([text('a')], 1),
      event([text('b "quoted"\n')], 2),
      event([text('c')], 2),
      event([text('d')], 5, stop),
    ])
    expect(outcome.ending).toBe('done')
    expect(gather(chunksOf(outcome)).content).toBe('ab "quoted"\ncd')
    expect(outcome.events.map(one => one.text !== undefined)).toEqual([false, true, true, false])
    expect(outcome.events.map(one => one.usage?.tokens.output)).toEqual([
      1,
      undefined,
      undefined,
      5,
    ])
    expect(outcome.events.map(one => one.running)).toEqual([true, undefined, undefined, undefined])
  })

  test('tell the usage now and then', () => {
    const many = Array.from({ length: 18 }, (_, i) => event([text('a')], i + 1))
    const outcome = read([...many, event([], 18, stop)])
    expect(outcome.events.flatMap(one => one.usage?.tokens.output ?? [])).toEqual([1, 9, 17, 18])
  })

  test.each([
    ['a signature', [{ text: 'b', thoughtSignature: 'sig' }]],
    ['a thought', [{ text: 'b', thought: true }]],
    ['a second part', [text('b'), text('c')]],
    ['a call', [text('b'), { functionCall: { name: 'f', args: {} } }]],
  ])('leave it for %s', (_, parts) => {
    const told = (first: string) =>
      gather(
        chunksOf(
          read([
            event([text(first)], 1),
            event([text('x')], 2),
            event(parts, 3),
            event([], 4, stop),
          ]),
        ),
      )
    // Without a first text there is nothing to learn from.
    const { content, ...rest } = told('a')
    const { content: plain, ...same } = told('')
    expect(content).toBe(`a${plain}`)
    expect(rest).toEqual(same)
  })

  test('of two parts teach nothing that would lose the second', () => {
    const outcome = read([
      event([text('a'), text('b')], 1),
      event([text('c'), text('b')], 2),
      event([], 2, stop),
    ])
    expect(gather(chunksOf(outcome)).content).toBe('abcb')
  })
})

test('several candidates are several choices, each with its own role and end', () => {
  const both = (one: Json, two: Json): Json => ({ candidates: [one, two], usageMetadata: usage(3) })
  const piece = (index: number, words: string, more: Json = {}): Json => ({
    index,
    content: { parts: [text(words)] },
    ...more,
  })
  const outcome = read([
    both(piece(0, 'a'), piece(1, 'x')),
    both(piece(0, 'b', stop), piece(1, 'y', { finishReason: 'MAX_TOKENS' })),
  ])
  expect(outcome.ending).toBe('done')
  const choices = chunksOf(outcome).flatMap(chunk => chunk.choices)
  expect(
    choices.map(({ index, delta, finish_reason }) => [
      index,
      delta.role,
      delta.content,
      finish_reason,
    ]),
  ).toEqual([
    [0, 'assistant', 'a', null],
    [1, 'assistant', 'x', null],
    [0, undefined, 'b', 'stop'],
    [1, undefined, 'y', 'length'],
  ])
})

test('one candidate of two without its end is broken off', () => {
  const both = {
    candidates: [
      { index: 0, ...stop },
      { index: 1, content: { parts: [text('x')] } },
    ],
  }
  expect(read([both]).ending).toMatch(/^provider_invalid_response/)
})

test('a refused prompt is an answer that was filtered, with the provider’s words', () => {
  const feedback = { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' }
  const outcome = read([
    { promptFeedback: feedback, usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 } },
  ])
  expect(outcome.ending).toBe('done')
  const [choice] = chunksOf(outcome)[0]?.choices ?? []
  expect(choice).toMatchObject({
    delta: { role: 'assistant', content: '', refusal: 'Not this.' },
    finish_reason: 'content_filter',
    native_finish_reason: 'PROHIBITED_CONTENT',
  })
  expect(outcome.events.at(-1)?.usage?.tokens).toEqual({ input: 7, output: 0 })
})

test('arguments that come leaf by leaf become one object, and no prototype', () => {
  const call = (more: Json): Json => event([{ functionCall: more }], 1)
  const leaf = (jsonPath: string, value: Json, goesOn = true): Json =>
    call({ partialArgs: [{ jsonPath, ...value }], willContinue: goesOn })
  const outcome = read([
    call({ name: 'f', willContinue: true }),
    leaf('$.a.list[1].b', { stringValue: 'x', willContinue: true }),
    leaf('$.a.list[1].b', { stringValue: 'y' }),
    leaf("$.a['odd key']", { numberValue: 1.5 }),
    leaf('$.__proto__.polluted', { boolValue: true }),
    leaf('$.none', { nullValue: null }),
    leaf('nonsense', { numberValue: 1 }),
    call({}),
    call({ name: 'g', args: { z: 1 } }),
    event([], 2, stop),
  ])
  const calls = gather(chunksOf(outcome)).tool_calls ?? []
  expect(calls.map(one => one.function)).toEqual([
    {
      name: 'f',
      arguments:
        '{"a":{"list":[null,{"b":"xy"}],"odd key":1.5},"__proto__":{"polluted":true},"none":null}',
    },
    { name: 'g', arguments: '{"z":1}' },
  ])
  expect('polluted' in {}).toBe(false)
  expect(calls.map(({ id }) => id)).toEqual(['call_abc123_0_0', 'call_abc123_0_1'])
})

test('an error amid the stream comes after what was said before it', () => {
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' }
  for (const told of [{ error }, [{ error }]]) {
    const outcome = read([event([text('a')], 1), told])
    expect(outcome.ending).toMatch(/^provider_unavailable/)
    expect(gather(chunksOf(outcome)).content).toBe('a')
  }
})

test('what is no event is an error, not silence', () => {
  expect(run(dialect, [Buffer.from('data: {broken\n\n')]).ending).toMatch(
    /^provider_invalid_response/,
  )
  expect(run(dialect, [Buffer.from('data: {"candidates":[1]}\n\n')]).ending).toMatch(
    /^provider_invalid_response/,
  )
  expect(run(dialect, [Buffer.from('data: {"candidates":[{"index":-1}]}\n\n')]).ending).toMatch(
    /^provider_invalid/,
  )
  expect(run(dialect, []).ending).toMatch(/^provider_invalid_response/)
})

test('log probabilities are told as OpenAI tells them', () => {
  const logprobsResult = {
    chosenCandidates: [{ token: 'ä', logProbability: -0.1 }],
    topCandidates: [
      {
        candidates: [
          { token: 'ä', logProbability: -0.1 },
          { token: 'b', logProbability: -2 },
        ],
      },
    ],
  }
  const { answer } = dialect.parseResponse(
    JSON.stringify(event([text('ä')], 1, { ...stop, logprobsResult })),
  )
  const ä = { token: 'ä', logprob: -0.1, bytes: [195, 164] }
  expect(answer.choices[0]?.logprobs).toEqual({
    content: [{ ...ä, top_logprobs: [ä, { token: 'b', logprob: -2, bytes: [98] }] }],
    refusal: null,
  })
})

test('places of sources are counted in characters', () => {
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
    groundingSupports: [
      { segment: { startIndex: 5, endIndex: 8, text: 'abc' }, groundingChunkIndices: [0] },
    ],
  }
  const outcome = read([
    event([text('ä€')], 1),
    event([text('abc')], 2),
    event([], 2, { ...stop, groundingMetadata }),
  ])
  expect(gather(chunksOf(outcome)).annotations).toEqual([
    {
      type: 'url_citation',
      url_citation: {
        url: 'https://a.test',
        title: 'A',
        start_index: 2,
        end_index: 5,
        content: 'abc',
      },
    },
  ])
})

test.each([
  ['a list', '[]'],
  ['no candidates', '{"candidates":[]}'],
  ['no JSON', '<html>'],
])('%s is no answer', (_, body) => {
  expect(() => dialect.parseResponse(body)).toThrow(
    expect.objectContaining({ code: 'provider_invalid_response' }),
  )
})
