import { describe, expect, test } from 'vitest'
import { anthropicMessages as dialect } from '../../src/dialects/anthropic-messages.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { codeOf } from './code-of.ts'
import { complaints, type Json, validatorOf } from './proof.ts'

const requestSchema = validatorOf('anthropic-messages.schema.json', 'CreateMessageParams')
const hi = { role: 'user', content: 'hi' }
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }

type Asked = Json & { upstreamModel?: string; most?: number }

const render = ({ upstreamModel = 'claude-sonnet-4-5', most, ...fields }: Asked): Json => {
  const chat = ChatRequestSchema.parse({ model: 'anthropic/x', messages: [hi], ...fields })
  const target = { upstreamModel, maxOutputTokens: most ?? null }
  const body = JSON.parse(dialect.renderRequest(chat, target).body) as Json
  expect(complaints(requestSchema, body)).toEqual([])
  return body
}

const refusal = (asked: Asked): string => codeOf(() => render(asked))

test('goes to the messages, in the version that it speaks', () => {
  const chat = ChatRequestSchema.parse({ model: 'anthropic/x', messages: [hi] })
  const rendered = dialect.renderRequest(chat, { upstreamModel: 'm', maxOutputTokens: null })
  expect(rendered).toMatchObject({
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
  })
})

describe('the required maximum', () => {
  test.each([
    ['the client’s', { max_tokens: 9 }, 9],
    ['the client’s by its newer name', { max_completion_tokens: 8, max_tokens: 9 }, 8],
    ['what the balance pays for', { max_tokens: 900, most: 70 }, 70],
    ['never above the model’s', { max_tokens: 200_000 }, 64_000],
    ['the model’s where none is named', {}, 64_000],
    [
      'less where a prompt must leave room for all of it',
      { upstreamModel: 'claude-opus-4-1' },
      16_384,
    ],
    ['the newest known of an unknown Claude', { upstreamModel: 'claude-nova-9' }, 128_000],
    ['a safe one of what is no Claude', { upstreamModel: 'MiniMax-M2' }, 4096],
  ])('is %s', (_, asked, max) => {
    expect(render(asked).max_tokens).toBe(max)
  })
})

describe('reasoning', () => {
  const effort = (effort: string) => ({ reasoning: { effort } })
  test.each<[string, Asked, Json]>([
    [
      'an effort from 4.7 on',
      { upstreamModel: 'claude-opus-4-7', ...effort('xhigh') },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
    ],
    [
      'an effort with 4.6',
      { upstreamModel: 'claude-sonnet-4-6', ...effort('xhigh') },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
    ],
    [
      'a budget with 4.6',
      { upstreamModel: 'claude-sonnet-4-6', reasoning: { max_tokens: 2000 } },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    [
      'a share of the maximum before',
      { max_tokens: 4096, reasoning_effort: 'medium' },
      { thinking: { type: 'enabled', budget_tokens: 2048 } },
    ],
    [
      'never all of the maximum',
      { max_tokens: 1500, reasoning: { max_tokens: 8000 } },
      { thinking: { type: 'enabled', budget_tokens: 1499 } },
    ],
    [
      'unseen where the client wants none of it',
      { upstreamModel: 'claude-opus-5', reasoning: { effort: 'low', exclude: true } },
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
    ],
    ['off', { ...effort('none') }, { thinking: { type: 'disabled' } }],
    [
      'the provider’s own words',
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
    ],
    ['none in too short an answer', { max_tokens: 500, ...effort('high') }, {}],
  ])('is %s', (_, asked, wanted) => {
    const { thinking, output_config } = render(asked)
    expect({
      ...(thinking ? { thinking } : {}),
      ...(output_config ? { output_config } : {}),
    }).toEqual(wanted)
  })

  test('shuts out temperature, and gives way to a forced tool', () => {
    expect(render({ temperature: 0.5, ...effort('high') })).not.toHaveProperty('temperature')
    const forced = render({ ...effort('high'), tools: [tool], tool_choice: 'required' })
    expect(forced).toMatchObject({ tool_choice: { type: 'any' } })
    expect(forced).not.toHaveProperty('thinking')
  })

  test('is left out of a turn that goes on from a call without any', () => {
    const messages = [
      hi,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
    ]
    expect(render({ messages, tools: [tool], ...effort('high') })).not.toHaveProperty('thinking')
    const adaptive = {
      upstreamModel: 'claude-opus-4-7',
      messages,
      tools: [tool],
      ...effort('high'),
    }
    expect(render(adaptive)).toHaveProperty('thinking')
  })
})

describe('tools', () => {
  test.each<[string, Asked, unknown]>([
    ['auto', { tool_choice: 'auto' }, { type: 'auto' }],
    ['left out', {}, undefined],
    ['none', { tool_choice: 'none' }, { type: 'none' }],
    [
      'one at a time',
      { parallel_tool_calls: false },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [
      'one by name, alone',
      { tool_choice: { type: 'function', function: { name: 'f' } }, parallel_tool_calls: false },
      { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    ],
    [
      'some of them',
      {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: {
            mode: 'required',
            tools: [{ type: 'function', function: { name: 'f' } }],
          },
        },
      },
      { type: 'any' },
    ],
  ])('choice: %s', (_, asked, choice) => {
    expect(render({ tools: [tool], ...asked }).tool_choice).toEqual(choice)
  })

  test('need a schema; strict ones need one that can be kept to', () => {
    const bare = { type: 'function', function: { name: 'f', strict: true, description: 'd' } }
    expect(render({ tools: [bare] }).tools).toEqual([
      {
        name: 'f',
        description: 'd',
        strict: true,
        input_schema: { type: 'object', properties: {}, additionalProperties: false },
      },
    ])
    expect(render({ upstreamModel: 'claude-sonnet-4-0', tools: [bare] }).tools).toEqual([
      { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } },
    ])
  })
})

describe('JSON', () => {
  const json = { response_format: { type: 'json_object' } }
  const schema = { type: 'object', properties: { minimum: { type: 'integer', minimum: 2 } } }
  const bySchema = { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } }

  test('is asked for by schema, from which go only the keywords that are refused', () => {
    expect(render(bySchema).output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { minimum: { type: 'integer', description: '{minimum: 2}' } },
          additionalProperties: false,
        },
      },
    })
  })

  test('is written into a tool of ours where there is no other way', () => {
    const own = 'tollgate_json_answer'
    expect(render(json)).toMatchObject({
      tools: [{ name: own }],
      tool_choice: { type: 'tool', name: own },
    })
    expect(render({ upstreamModel: 'claude-sonnet-4-0', ...bySchema })).toMatchObject({
      tools: [{ name: own, input_schema: schema }],
    })
    expect(render({ ...json, tools: [tool] })).toMatchObject({
      tools: [{ name: 'f' }, { name: own }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    })
    expect(render({ ...json, tools: [tool], tool_choice: 'none' })).toMatchObject({
      tool_choice: { type: 'tool', name: own },
    })
    expect(render({ ...json, tools: [tool], tool_choice: 'required' }).tools).toHaveLength(1)
  })
})

test('sampling is kept within what the model takes', () => {
  const sampling = { temperature: 1.7, top_p: 0.5, top_k: 4 }
  expect(render(sampling)).toMatchObject({ temperature: 1, top_k: 4 })
  expect(render(sampling)).not.toHaveProperty('top_p')
  expect(render({ top_p: 0.5 })).toMatchObject({ top_p: 0.5 })
  for (const upstreamModel of ['claude-opus-4-8', 'claude-fable-5', 'claude-sonnet-5-20261101']) {
    const body = render({ ...sampling, upstreamModel })
    for (const name of Object.keys(sampling)) expect(body).not.toHaveProperty(name)
  }
})

test('the rest has its place, or is a mere hint', () => {
  const body = render({
    user: 'u',
    stop: 'x',
    stream: true,
    cache_control: { type: 'ephemeral' },
    seed: 1,
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    modalities: ['text'],
    store: true,
    metadata: { a: 'b' },
    frequency_penalty: 0.2,
    functions: null,
  })
  expect(Object.keys(body).sort()).toEqual([
    'cache_control',
    'max_tokens',
    'messages',
    'metadata',
    'model',
    'stop_sequences',
    'stream',
  ])
  expect(body).toMatchObject({ metadata: { user_id: 'u' }, stop_sequences: ['x'], stream: true })
})

describe('refuses by name', () => {
  const said = (part: Json) => ({ messages: [{ role: 'user', content: [part] }] })
  test.each<[string, Asked]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 1: 1 } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['mcp_servers', { mcp_servers: [{ url: 'x' }] }],
    ['stop', { stop: ['a', '\n'] }],
    ['tools[0].type', { tools: [{ type: 'custom', custom: { name: 'c' } }] }],
    ['tool_choice', { tools: [tool], tool_choice: 'required', upstreamModel: 'claude-opus-5-5' }],
    [
      'response_format',
      { response_format: { type: 'json_object' }, upstreamModel: 'claude-opus-5-5' },
    ],
    ['response_format.type', { response_format: { type: 'grammar' } }],
    ['reasoning.max_tokens', { reasoning: { max_tokens: 2000 }, upstreamModel: 'claude-opus-4-7' }],
    ['reasoning.max_tokens', { reasoning: { max_tokens: 500 } }],
    ['reasoning.effort', { reasoning: { effort: 'none' }, upstreamModel: 'claude-fable-5' }],
    [
      'reasoning.effort',
      { reasoning: { effort: 'low' }, upstreamModel: 'claude-3-5-haiku-latest' },
    ],
    [
      'messages[0].content[0]',
      said({ type: 'input_audio', input_audio: { data: '', format: 'wav' } }),
    ],
    [
      'messages[0].content[0]',
      said({ type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA' } }),
    ],
    [
      'messages[0].content[0]',
      said({ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }),
    ],
    ['messages[0].content[0]', said({ type: 'file', file: { file_id: 'file-1' } })],
    ['messages[0].content[0]', said({ type: 'file', file: { file_data: 'https://a/b.mp3' } })],
    [
      'messages[0].content[0]',
      said({ type: 'file', file: { file_data: 'data:audio/mp3;base64,AA' } }),
    ],
    ['messages[0].role', { messages: [{ role: 'function', name: 'f', content: 'x' }] }],
  ])('%s', (param, asked) => {
    expect(refusal(asked)).toBe(`unsupported_parameter ${param}`)
  })

  test('a call whose arguments are no object, and a result without its call', () => {
    const function_ = { name: 'f', arguments: '[1' }
    const calls = {
      messages: [
        hi,
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: function_ }] },
      ],
    }
    expect(refusal(calls)).toBe('invalid_request messages[1].tool_calls[0].function.arguments')
    expect(refusal({ messages: [hi, { role: 'tool', content: 'x' }] })).toBe(
      'invalid_request messages[1].tool_call_id',
    )
  })
})
