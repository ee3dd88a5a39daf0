import { describe, expect, test } from 'vitest'
import { gemini as dialect } from '../../src/dialects/gemini.ts'
import { GatewayError } from '../../src/errors.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { complaints, field, type Json, validatorOf } from './proof.ts'

const requestSchema = validatorOf('gemini-generate.schema.json', 'GenerateContentRequest')
const hi = { role: 'user', content: 'hi' }

const render = (
  fields: Json,
  upstreamModel = 'gemini-3.5-flash',
  maxOutputTokens: number | null = null,
) => {
  const chat = ChatRequestSchema.parse({ model: 'google/x', messages: [hi], ...fields })
  const { path, body } = dialect.renderRequest(chat, { upstreamModel, maxOutputTokens })
  const request = JSON.parse(body) as Json
  expect(complaints(requestSchema, request)).toEqual([])
  return { path, request }
}
const configOf = (fields: Json, model?: string, most?: number | null) =>
  render(fields, model, most).request.generationConfig
const partsOf = (...content: Json[]) =>
  field(render({ messages: [{ role: 'user', content }] }).request, 'contents', '0', 'parts')

const refusedParam = (fields: Json, model?: string): string | null => {
  try {
    render(fields, model)
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code} ${error.param}`
    throw error
  }
  return null
}

test('the model stands in the path, with the way to answer', () => {
  expect(render({}).path).toBe('/models/gemini-3.5-flash:generateContent')
  expect(render({ stream: true }).path).toBe(
    '/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
  )
  expect(render({}, '../x?y').path).toBe('/models/..%2Fx%3Fy:generateContent')
})

test('the smallest limit counts', () => {
  expect(configOf({ max_tokens: 50 }, undefined, 20)).toEqual({ maxOutputTokens: 20 })
  expect(configOf({ max_completion_tokens: 10, max_tokens: 50 }, undefined, 20)).toEqual({
    maxOutputTokens: 10,
  })
  expect(configOf({}, undefined, 20)).toEqual({ maxOutputTokens: 20 })
})

describe('reasoning, by generation', () => {
  const rows: [string, Json, unknown][] = [
    [
      'gemini-3.5-flash',
      { reasoning_effort: 'minimal' },
      { thinkingLevel: 'MINIMAL', includeThoughts: true },
    ],
    [
      'gemini-3.5-flash',
      { reasoning_effort: 'xhigh' },
      { thinkingLevel: 'HIGH', includeThoughts: true },
    ],
    ['gemini-3.5-flash', { reasoning: { effort: 'none' } }, { thinkingLevel: 'MINIMAL' }],
    [
      'gemini-3-pro-preview',
      { reasoning_effort: 'minimal' },
      { thinkingLevel: 'LOW', includeThoughts: true },
    ],
    [
      'gemini-3-pro-preview',
      { reasoning_effort: 'medium' },
      { thinkingLevel: 'HIGH', includeThoughts: true },
    ],
    [
      'gemini-3.1-pro-preview',
      { reasoning_effort: 'medium' },
      { thinkingLevel: 'MEDIUM', includeThoughts: true },
    ],
    [
      'gemini-3.5-flash',
      { reasoning: { max_tokens: 99 } },
      { thinkingBudget: 99, includeThoughts: true },
    ],
    [
      'gemini-flash-latest',
      { reasoning_effort: 'low' },
      { thinkingLevel: 'LOW', includeThoughts: true },
    ],
    [
      'gemini-2.5-flash',
      { reasoning_effort: 'medium' },
      { thinkingBudget: 8192, includeThoughts: true },
    ],
    ['gemini-2.5-flash', { reasoning_effort: 'none' }, { thinkingBudget: 0 }],
    [
      'gemini-2.5-flash',
      { reasoning: { max_tokens: 99_999 } },
      { thinkingBudget: 24_576, includeThoughts: true },
    ],
    [
      'gemini-2.5-flash-lite',
      { reasoning: { max_tokens: 9 } },
      { thinkingBudget: 512, includeThoughts: true },
    ],
    [
      'gemini-2.5-pro',
      { reasoning: { effort: 'max', exclude: true } },
      { thinkingBudget: 32_768, includeThoughts: false },
    ],
    ['gemini-2.5-pro', { reasoning: { enabled: true } }, { includeThoughts: true }],
    ['gemini-2.5-pro', { include_reasoning: true }, { includeThoughts: true }],
    ['gemini-2.5-pro', {}, undefined],
    ['gemini-2.0-flash', { reasoning_effort: 'none' }, undefined],
    ['gemini-2.0-flash', { include_reasoning: true }, undefined],
  ]
  test.each(rows)('%s %j', (model, fields, config) => {
    expect(field(render(fields, model).request, 'generationConfig', 'thinkingConfig')).toEqual(
      config,
    )
  })

  test.each([
    ['gemini-2.5-pro', { reasoning_effort: 'none' }, 'reasoning.effort'],
    ['gemini-3-pro-preview', { reasoning: { enabled: false } }, 'reasoning.effort'],
    ['gemini-2.0-flash', { reasoning_effort: 'low' }, 'reasoning.effort'],
    ['gemma-3-27b-it', { reasoning: { max_tokens: 9 } }, 'reasoning.max_tokens'],
  ])('%s can not %j', (model, fields, param) => {
    expect(refusedParam(fields, model)).toBe(`unsupported_parameter ${param}`)
  })
})

describe('what can not be honoured is refused, naming it', () => {
  test.each<[Json, string]>([
    [{ logit_bias: { 1: 2 } }, 'logit_bias'],
    [{ modalities: ['text', 'image'] }, 'modalities'],
    [{ audio: { voice: 'x' } }, 'audio'],
    [{ functions: [{ name: 'f' }] }, 'functions'],
    [{ thinking: { type: 'enabled' } }, 'thinking'],
    [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools[0].type'],
    [{ tool_choice: { type: 'x' } }, 'tool_choice'],
    [{ response_format: { type: 'grammar' } }, 'response_format.type'],
    [{ messages: [{ role: 'user', content: [{ type: 'x' }] }] }, 'messages[0].content[0]'],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'messages[0].content[0]',
    ],
    [
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'cat!' } }] }],
      },
      'messages[0].content[0]',
    ],
    [{ messages: [hi, { role: 'function', name: 'f', content: 'x' }] }, 'messages[1].role'],
    [
      { messages: [hi, { role: 'assistant', function_call: { name: 'f' } }] },
      'messages[1].function_call',
    ],
    [
      {
        messages: [
          { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a/b' } }] },
        ],
      },
      'messages[0].content[0]',
    ],
  ])('%j', (fields, param) => {
    expect(refusedParam(fields)).toBe(`unsupported_parameter ${param}`)
  })

  test('a result without its call, arguments that are no object', () => {
    const result = { role: 'tool', tool_call_id: 'c', content: 'x' }
    expect(refusedParam({ messages: [hi, result] })).toBe(
      'invalid_request messages[1].tool_call_id',
    )
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '[1' } }
    expect(refusedParam({ messages: [hi, { role: 'assistant', tool_calls: [call] }] })).toBe(
      'invalid_request messages[1].tool_calls[0].function.arguments',
    )
  })
})

test('hints that the API has no place for are left out', () => {
  const hints = {
    user: 'u',
    metadata: { a: 'b' },
    store: true,
    parallel_tool_calls: false,
    verbosity: 'low',
  }
  expect(
    render({ ...hints, frequency_penalty: 1, n: 1, stop: null, logprobs: false }).request,
  ).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  })
  expect(configOf({ frequency_penalty: 1 }, 'gemini-2.0-flash')).toEqual({ frequencyPenalty: 1 })
  expect(configOf({ seed: 2 ** 40 + 5, n: 2, logprobs: true, top_logprobs: 3 })).toEqual({
    seed: 5,
    candidateCount: 2,
    responseLogprobs: true,
    logprobs: 3,
  })
})

describe('media', () => {
  const file = (fields: Json): Json => ({ type: 'file', file: fields })
  const image = (url: string): Json => ({ type: 'image_url', image_url: { url } })
  const uri = (fileUri: string, mimeType: string) => ({ fileData: { fileUri, mimeType } })
  const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } })
  test.each<[Json, Json]>([
    [image('data:image/png;base64,AAAA'), inline('image/png', 'AAAA')],
    [image('https://a.test/b.webp?x'), uri('https://a.test/b.webp?x', 'image/webp')],
    [file({ file_data: 'data:application/pdf;base64,AAAA' }), inline('application/pdf', 'AAAA')],
    [file({ file_data: 'AAAA', filename: 'a.csv' }), inline('text/csv', 'AAAA')],
    [file({ file_data: 'data:application/json;base64,e30=' }), inline('text/plain', 'e30=')],
    [file({ file_data: 'data:text/plain,a%20b' }), inline('text/plain', 'YSBi')],
    [file({ file_id: 'gs://b/c.mp4' }), uri('gs://b/c.mp4', 'video/mp4')],
    [
      { type: 'video_url', video_url: { url: 'https://youtu.be/x' } },
      uri('https://youtu.be/x', 'video/mp4'),
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      inline('audio/mpeg', 'AAAA'),
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      inline('audio/wav', 'AAAA'),
    ],
  ])('%j', (part, rendered) => {
    expect(partsOf(part)).toEqual([rendered])
  })

  test('is fetched for the provider, save what that reads better itself', () => {
    const { inlinesMedia } = dialect
    const fetched = (url: string) => typeof inlinesMedia === 'function' && inlinesMedia(url)
    expect(fetched('https://a.test/cat')).toBe(true)
    expect(fetched('https://youtube.com.evil.test/cat')).toBe(true)
    expect(fetched('https://www.youtube.com/watch?v=x')).toBe(false)
    expect(fetched('https://a.test/film.mp4')).toBe(false)
    expect(fetched('https://generativelanguage.googleapis.com/v1beta/files/abc')).toBe(false)
  })
})

describe('calls and results', () => {
  const call = (id: string, more: Json = {}): Json => ({
    id,
    type: 'function',
    function: { name: `f_${id}`, arguments: '' },
    ...more,
  })
  const result = (id: string, content: unknown): Json => ({
    role: 'tool',
    tool_call_id: id,
    content,
  })
  const contents = (messages: Json[], model?: string) =>
    render({ messages: [hi, ...messages] }, model).request.contents

  test('of one turn stand together, before what the user says', () => {
    const messages = [
      { role: 'assistant', content: 'Well.', tool_calls: [call('a'), call('b')] },
      result('a', '{"x":1}'),
      { role: 'user', content: 'And?' },
      result('b', [{ type: 'text', text: '[1]' }]),
    ]
    expect((contents(messages, 'gemini-2.5-pro') as Json[]).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Well.' },
          { functionCall: { id: 'a', name: 'f_a', args: {} } },
          { functionCall: { id: 'b', name: 'f_b', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'f_a', response: { x: 1 } } },
          { functionResponse: { id: 'b', name: 'f_b', response: { output: [1] } } },
          { text: 'And?' },
        ],
      },
    ])
  })

  test('hold images inside from Gemini 3 on, and beside before', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const messages = [{ role: 'assistant', tool_calls: [call('a')] }, result('a', [image])]
    const inlineData = { mimeType: 'image/png', data: 'AAAA' }
    const response = { id: 'a', name: 'f_a', response: { output: '' } }
    expect(field(contents(messages), '2', 'parts')).toEqual([
      { functionResponse: { ...response, parts: [{ inlineData }] } },
    ])
    expect(field(contents(messages, 'gemini-2.5-pro'), '2', 'parts')).toEqual([
      { functionResponse: response },
      { inlineData },
    ])
  })

  test('of another model get the documented stand-in, where a signature is asked for', () => {
    const foreign = {
      type: 'reasoning.encrypted',
      data: 'x',
      id: 'a',
      format: 'openai-responses-v1',
    }
    const messages = [
      { role: 'assistant', reasoning_details: [foreign], tool_calls: [call('a'), call('b')] },
    ]
    const signatures = (model: string) =>
      (field(contents(messages, model), '1', 'parts') as Json[]).map(part => part.thoughtSignature)
    expect(signatures('gemini-3.5-flash')).toEqual(['skip_thought_signature_validator', undefined])
    expect(signatures('gemini-2.5-flash')).toEqual([undefined, undefined])
  })

  test('keep their signatures, told by either of the two ways, and as pieces of a stream', () => {
    const extra = { extra_content: { google: { thought_signature: 'one' } } }
    const format = 'google-gemini-v1'
    const details = [
      { type: 'reasoning.text', text: 'Hm', index: 0, format },
      { type: 'reasoning.text', text: 'm.', index: 0, signature: 'zero' },
      { type: 'reasoning.encrypted', data: 'two', id: 'b', index: 1, format },
      { type: 'reasoning.encrypted', data: 'three', index: 2, format },
    ]
    const messages = [
      {
        role: 'assistant',
        content: 'Well.',
        reasoning_details: details,
        tool_calls: [call('a', extra), call('b')],
      },
    ]
    expect(field(contents(messages), '1', 'parts')).toEqual([
      { text: 'Hmm.', thought: true, thoughtSignature: 'zero' },
      { text: 'Well.', thoughtSignature: 'three' },
      { functionCall: { id: 'a', name: 'f_a', args: {} }, thoughtSignature: 'one' },
      { functionCall: { id: 'b', name: 'f_b', args: {} }, thoughtSignature: 'two' },
    ])
  })

  test('are chosen among', () => {
    const tools = ['f', 'g'].map(name => ({ type: 'function', function: { name, parameters: {} } }))
    const of = (tool_choice: unknown) => {
      const { request } = render({ tools, tool_choice })
      const declared = field(request, 'tools', '0', 'functionDeclarations') as Json[]
      return [
        declared.map(({ name }) => name),
        field(request, 'toolConfig', 'functionCallingConfig'),
      ]
    }
    expect(of(undefined)).toEqual([['f', 'g'], undefined])
    expect(of('none')).toEqual([['f', 'g'], { mode: 'NONE' }])
    expect(of('required')).toEqual([['f', 'g'], { mode: 'ANY' }])
    const g = { type: 'function', function: { name: 'g' } }
    expect(of(g)).toEqual([['f', 'g'], { mode: 'ANY', allowedFunctionNames: ['g'] }])
    expect(of({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [g] } })).toEqual([
      ['g'],
      undefined,
    ])
  })
})

describe('instructions', () => {
  const system = { role: 'system', content: 'Be brief.' }
  test('that lead stand apart, later ones in the user’s turn', () => {
    const late = { role: 'developer', content: 'Be long.' }
    const { request } = render({ messages: [system, hi, late] })
    expect(request.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] })
    expect(request.contents).toEqual([
      { role: 'user', parts: [{ text: 'hi' }, { text: '<system>\nBe long.\n</system>' }] },
    ])
  })

  test('alone are what is asked', () => {
    expect(render({ messages: [system] }).request).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }] }],
    })
  })

  test('are said by the user to a model that has none', () => {
    expect(render({ messages: [system, hi] }, 'gemma-3-27b-it').request).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'hi' }] }],
    })
  })
})
