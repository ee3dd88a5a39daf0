import { describe, expect, test } from 'vitest'
import {
  chatCompletions,
  chatCompletionsWith,
  type Quirks,
} from '../../src/dialects/chat-completions.ts'
import { codeOf } from './code-of.ts'

const whole = (choice: object, rest: object = {}) =>
  chatCompletions.parseResponse(
    JSON.stringify({
      id: 'chatcmpl-Ab9',
      choices: [{ index: 0, finish_reason: 'stop', ...choice }],
      ...rest,
    }),
  )

describe('a whole answer', () => {
  test('has every field that clients rely on, and none of the vendor', () => {
    const { answer, usage } = whole(
      { message: { role: 'assistant', content: 'hi', channel: 'x' }, content_filter_results: {} },
      {
        model: 'm',
        created: 1,
        x_groq: { id: 'r' },
        system_fingerprint: 'fp',
        citations: ['u'],
        time_info: {},
      },
    )
    expect(answer).toEqual({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'stop',
        },
      ],
      system_fingerprint: 'fp',
      citations: ['u'],
    })
    expect(usage).toBeNull()
  })

  test('gives tool calls an id, a text of arguments and what must come back', () => {
    const calls = [
      {
        id: '',
        function: { name: 'f', arguments: { a: 1 } },
        extra_content: { google: { sig: 's' } },
      },
      { id: 'own', type: 'function', function: { name: 'g', arguments: '{}' }, index: 4 },
    ]
    const { answer } = whole({ message: { tool_calls: calls }, finish_reason: 'tool_use' })
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      native_finish_reason: 'tool_use',
    })
    expect(answer.choices[0]?.message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        {
          id: 'call_chatcmplAb9_0_0',
          type: 'function',
          function: { name: 'f', arguments: '{"a":1}' },
          extra_content: { google: { sig: 's' } },
        },
        { id: 'own', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    })
  })

  test("tells reasoning from content, and keeps the provider's name for it", () => {
    expect(
      whole({ message: { content: 'a', reasoning_content: 'b' } }).answer.choices[0]?.message,
    ).toEqual({
      role: 'assistant',
      content: 'a',
      refusal: null,
      reasoning_content: 'b',
      reasoning: 'b',
    })
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'b' }] },
      { type: 'text', text: 'a' },
    ]
    expect(whole({ message: { content: parts } }).answer.choices[0]?.message).toMatchObject({
      content: 'a',
      reasoning: 'b',
    })
  })

  test.each([
    ['eos', 'stop'],
    ['model_length', 'length'],
    ['function_call', 'tool_calls'],
    ['MAX_TOKENS', 'length'],
    ['cosmic_ray', 'error'],
    ['constructor', 'error'],
  ])('calls finish reason %s %s', (native, ours) => {
    const choice = whole({ message: { content: 'a' }, finish_reason: native }).answer.choices[0]
    expect([choice?.finish_reason, choice?.native_finish_reason]).toEqual([ours, native])
  })

  test.each([
    ['', 'provider_invalid_response'],
    ['[]', 'provider_invalid_response'],
    ['{"choices":[]}', 'provider_invalid_response'],
    ['{"choices":[null]}', 'provider_invalid_response'],
    ['{"choices":[{"index":0}]}', 'provider_invalid_response'],
    ['{"error":{"code":429,"message":"slow down"}}', 'provider_rate_limited'],
    ['{"object":"error","message":"no"}', 'provider_error'],
  ])('that reads %j is %s', (body, code) => {
    expect(codeOf(() => chatCompletions.parseResponse(body))).toBe(code)
  })
})

const usageOf = (usage: object, quirks: Quirks = {}) =>
  chatCompletionsWith(quirks).parseResponse(
    JSON.stringify({ choices: [{ message: { content: '' }, finish_reason: 'stop' }], usage }),
  ).usage

describe('usage', () => {
  test.each([
    [
      'plain',
      { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      { tokens: { input: 5, output: 7 } },
    ],
    [
      "OpenAI's details",
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20, audio_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 15, audio_tokens: 5 },
      },
      {
        tokens: {
          input: 40,
          cacheRead: 30,
          cacheWrite: 20,
          inputAudio: 10,
          output: 45,
          outputAudio: 5,
        },
        reasoning: 15,
      },
    ],
    [
      "DeepSeek's cache",
      {
        prompt_tokens: 10,
        completion_tokens: 1,
        prompt_cache_hit_tokens: 4,
        prompt_cache_miss_tokens: 6,
      },
      { tokens: { input: 6, cacheRead: 4, output: 1 } },
    ],
    [
      "Together's cache",
      { prompt_tokens: 10, completion_tokens: 1, cached_tokens: 4 },
      { tokens: { input: 6, cacheRead: 4, output: 1 } },
    ],
    [
      "Mistral's cache",
      { prompt_tokens: 10, completion_tokens: 1, num_cached_tokens: 4 },
      { tokens: { input: 6, cacheRead: 4, output: 1 } },
    ],
    [
      "xAI's reasoning, outside the completion",
      {
        prompt_tokens: 165,
        completion_tokens: 2,
        total_tokens: 296,
        completion_tokens_details: { reasoning_tokens: 129 },
        num_sources_used: 3,
      },
      { tokens: { input: 165, output: 131 }, reasoning: 129, counts: { webSearch: 3 } },
    ],
    [
      "Mistral's audio, outside the prompt",
      {
        prompt_tokens: 9,
        completion_tokens: 248,
        total_tokens: 632,
        prompt_tokens_details: { audio_tokens: 375 },
      },
      { tokens: { input: 9, inputAudio: 375, output: 248 } },
    ],
    [
      'an excess that nothing explains',
      { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 },
      { tokens: { input: 35, output: 12 } },
    ],
    [
      'parts that are larger than the whole',
      {
        prompt_tokens: 7,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 163, cache_write_tokens: 9 },
        completion_tokens_details: { reasoning_tokens: 11 },
      },
      { tokens: { input: 0, cacheRead: 7, output: 1 }, reasoning: 1 },
    ],
  ])('reads %s', (_, reported, wanted) => {
    expect(usageOf(reported)).toEqual(wanted)
  })

  test.each([
    { prompt_tokens: 5 },
    { prompt_tokens: -5, completion_tokens: 1 },
    { prompt_tokens: 5.5, completion_tokens: 1 },
    { prompt_tokens: '5', completion_tokens: 1 },
    { prompt_tokens: 1e12, completion_tokens: 1 },
    { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: -1 } },
    {
      prompt_tokens: 5,
      completion_tokens: 1,
      completion_tokens_details: { reasoning_tokens: 2e9 },
    },
    [],
  ])('counts %j as not reported', reported => {
    expect(usageOf(reported)).toBeNull()
  })

  test('counts the request where each carries a fee', () => {
    expect(
      usageOf({ prompt_tokens: 5, completion_tokens: 1 }, { feePerRequest: true })?.counts,
    ).toEqual({
      request: 1,
    })
  })
})
