import { describe, expect, test } from 'vitest'
import { cohereChat as dialect } from '../../src/dialects/cohere-chat.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { codeOf } from './code-of.ts'
import { cohereRequestComplaints } from './cohere-chat-schema.ts'
import { answerComplaints, type Json } from './proof.ts'

const hi = { role: 'user', content: 'hi' }
const tool = (name: string, strict = false) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' }, strict },
})

type Asked = Json & { most?: number }

const render = ({ most, ...fields }: Asked): Json => {
  const chat = ChatRequestSchema.parse({ model: 'cohere/x', messages: [hi], ...fields })
  const target = { upstreamModel: 'command-a-03-2025', maxOutputTokens: most ?? null }
  const rendered = dialect.renderRequest(chat, target)
  expect(rendered.path).toBe('/v2/chat')
  const body = JSON.parse(rendered.body) as Json
  expect(cohereRequestComplaints(body)).toEqual([])
  return body
}

const messages = (asked: Json[]): unknown => render({ messages: asked }).messages

describe('a request', () => {
  test.each<[string, Asked, Json]>([
    ['output cap', { max_tokens: 9, most: 5 }, { max_tokens: 5 }],
    ['no cap where none is named', {}, {}],
    [
      'sampling within what is taken',
      { temperature: 1.4, top_p: 1, top_k: 3, seed: 4, frequency_penalty: -1, presence_penalty: 2 },
      { temperature: 1, p: 0.99, k: 3, seed: 4, frequency_penalty: 0, presence_penalty: 1 },
    ],
    ['stop', { stop: 'x' }, { stop_sequences: ['x'] }],
    ['logprobs', { logprobs: true }, { logprobs: true }],
    [
      'any JSON',
      { response_format: { type: 'json_object' } },
      { response_format: { type: 'json_object' } },
    ],
    [
      'JSON by schema',
      { response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } } },
      { response_format: { type: 'json_object', json_schema: { type: 'object' } } },
    ],
    ['text', { response_format: { type: 'text' } }, {}],
    ['reasoning', { reasoning_effort: 'high' }, { thinking: { type: 'enabled' } }],
    ['no reasoning', { reasoning: { effort: 'none' } }, { thinking: { type: 'disabled' } }],
    [
      'a budget',
      { reasoning: { max_tokens: 99 } },
      { thinking: { type: 'enabled', token_budget: 99 } },
    ],
    [
      'its own fields',
      { safety_mode: 'OFF', citation_options: { mode: 'FAST' } },
      { safety_mode: 'OFF', citation_options: { mode: 'FAST' } },
    ],
    [
      'hints left out',
      { user: 'u', store: true, n: 1, metadata: { a: 'b' }, verbosity: 'low' },
      {},
    ],
  ])('has %s', (_, asked, wanted) => {
    const { model: _model, messages: _messages, ...rest } = render(asked)
    expect(rest).toEqual(wanted)
  })

  test.each<[string, Asked, Json]>([
    ['auto', { tool_choice: 'auto' }, {}],
    ['none', { tool_choice: 'none' }, { tool_choice: 'NONE' }],
    ['required', { tool_choice: 'required' }, { tool_choice: 'REQUIRED' }],
  ])('chooses %s', (_, asked, wanted) => {
    const { tools, tool_choice } = render({ tools: [tool('a'), tool('b')], ...asked })
    expect(tools).toHaveLength(2)
    expect(tool_choice === undefined ? {} : { tool_choice }).toEqual(wanted)
  })

  test('shows a tool that must be called alone', () => {
    const choice = { type: 'function', function: { name: 'b' } }
    expect(render({ tools: [tool('a'), tool('b')], tool_choice: choice })).toMatchObject({
      tools: [{ function: { name: 'b' } }],
      tool_choice: 'REQUIRED',
    })
    expect(render({ tools: [tool('a', true), tool('b')] })).not.toHaveProperty('strict_tools')
    expect(render({ tools: [tool('a', true)] })).toMatchObject({ strict_tools: true })
  })

  test('tells every role, with reasoning and plan where they were', () => {
    const format = 'cohere-v2'
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '' } }
    expect(
      messages([
        { role: 'developer', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see', cache_control: { type: 'ephemeral' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [
            { type: 'reasoning.text', text: 'h', format, index: 0 },
            { type: 'reasoning.text', text: 'm', index: 0 },
            { type: 'reasoning.text', text: 'I will', format, id: 'tool_plan', index: 1 },
            { type: 'reasoning.text', text: '!', index: 1 },
            {
              type: 'reasoning.text',
              text: 'x',
              format: 'anthropic-claude-v1',
              signature: 's',
              index: 2,
            },
          ],
          tool_calls: [call],
        },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
        { role: 'assistant', content: null, refusal: 'no' },
      ]),
    ).toEqual([
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'hm' }],
        tool_calls: [{ ...call, function: { name: 'f', arguments: '{}' } }],
        tool_plan: 'I will!',
      },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
      { role: 'assistant', content: 'no' },
    ])
  })

  test('has files of text beside the conversation', () => {
    const file = { file_data: 'data:text/plain;base64,aMOp', filename: 'a.txt' }
    const said = [
      { type: 'text', text: 'q' },
      { type: 'file', file },
    ]
    expect(render({ messages: [{ role: 'user', content: said }] })).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
      documents: [{ data: { title: 'a.txt', text: 'hé' } }],
    })
  })

  const said = (part: Json) => ({ messages: [{ role: 'user', content: [part] }] })
  test.each<[string, Asked]>([
    ['n', { n: 2 }],
    ['logit_bias', { logit_bias: { 1: 1 } }],
    ['top_logprobs', { logprobs: true, top_logprobs: 3 }],
    ['stop', { stop: ['1', '2', '3', '4', '5', '6'] }],
    ['parallel_tool_calls', { tools: [tool('a')], parallel_tool_calls: false }],
    ['tools[0].type', { tools: [{ type: 'custom' }] }],
    ['messages[0].content[0]', said({ type: 'input_audio', input_audio: {} })],
    [
      'messages[0].content[0]',
      said({ type: 'file', file: { file_data: 'data:application/pdf;base64,AA' } }),
    ],
    ['messages[0].content[0]', said({ type: 'image_url', image_url: { url: 'file:///x' } })],
    ['messages[0].role', { messages: [{ role: 'function', name: 'f', content: 'x' }] }],
  ])('is refused by name: %s', (param, asked) => {
    expect(codeOf(() => render(asked))).toBe(`unsupported_parameter ${param}`)
  })
})

const usage = {
  billed_units: { input_tokens: 3, output_tokens: 9 },
  tokens: { input_tokens: 500, output_tokens: 20, reasoning_tokens: 4 },
  cached_tokens: 480,
}

describe('an answer', () => {
  const parse = (fields: Json) =>
    dialect.parseResponse(
      JSON.stringify({ id: 'a', message: {}, finish_reason: 'COMPLETE', ...fields }),
    )

  test.each([
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['TOOL_CALL', 'tool_calls'],
    ['ERROR_TOXIC', 'content_filter'],
    ['ERROR', 'error'],
    ['TIMEOUT', 'error'],
    ['SOMETHING_NEW', 'error'],
    [null, 'error'],
  ])('that ends with %s has finish reason %s', (native, ours) => {
    expect(parse({ finish_reason: native }).answer.choices[0]).toMatchObject({
      finish_reason: ours,
      native_finish_reason: native,
    })
  })

  test('is charged what Cohere bills', () => {
    expect(parse({ usage }).usage).toEqual({ tokens: { input: 3, output: 9 }, reasoning: 4 })
    expect(parse({ usage: { tokens: usage.tokens } }).usage?.tokens).toEqual({
      input: 500,
      output: 20,
    })
    for (const broken of [
      undefined,
      {},
      { billed_units: {} },
      { billed_units: { input_tokens: -1 } },
    ])
      expect(parse({ usage: broken }).usage).toBeNull()
  })

  test('has probabilities and sources in OpenAI’s form', () => {
    const web = {
      start: 0,
      end: 2,
      text: 'hé',
      sources: [{ type: 'document', id: 'd', document: { url: 'https://a', title: 'A' } }],
    }
    const own = {
      start: 0,
      end: 2,
      text: 'hé',
      sources: [{ type: 'document', id: 'd', document: { text: 't' } }],
    }
    const { answer } = parse({
      message: { content: [{ type: 'text', text: 'hé' }], citations: [web, own] },
      logprobs: [{ text: 'hé', token_ids: [1, 2], logprobs: [-1, -2] }],
    })
    expect(answerComplaints(answer)).toEqual([])
    expect(answer.choices[0]).toMatchObject({
      logprobs: {
        content: [{ token: 'hé', logprob: -3, bytes: [104, 195, 169], top_logprobs: [] }],
      },
      message: {
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 2 },
          },
        ],
        citations: [own],
      },
    })
  })

  test('makes up the id of a call that has none', () => {
    const call = { function: { name: 'f', arguments: 'null' } }
    expect(parse({ message: { tool_calls: [call] } }).answer.choices[0]?.message).toMatchObject({
      content: null,
      tool_calls: [{ id: 'call_a_0', type: 'function', function: { name: 'f', arguments: '{}' } }],
    })
  })

  test.each([
    ['nonsense', '<html>', 'provider_invalid_response'],
    ['no message', '{"id":"a"}', 'provider_invalid_response'],
    ['a failure behind a 200', '{"message":"internal server error"}', 'provider_error'],
  ])('is none: %s', (_, body, code) => {
    expect(codeOf(() => dialect.parseResponse(body))).toBe(code)
  })
})

test('a blocked token is the gateway’s trouble', () => {
  expect(dialect.parseError(498, {}, '{"message":"invalid token"}').code).toBe(
    'provider_rejected_credentials',
  )
})
