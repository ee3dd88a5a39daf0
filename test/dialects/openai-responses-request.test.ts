import { describe, expect, test } from 'vitest'
import { needsResponses } from '../../src/dialects/openai-models.ts'
import { openAiResponses as dialect } from '../../src/dialects/openai-responses.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { codeOf } from './code-of.ts'
import { responsesRequestComplaints } from './openai-responses-schema.ts'
import { field, type Json } from './proof.ts'

const user = { role: 'user', content: 'q' }

const render = (body: Json, upstreamModel = 'gpt-5.4', maxOutputTokens: number | null = null) => {
  const chat = ChatRequestSchema.parse({ model: 'openai/m', messages: [user], ...body })
  return JSON.parse(dialect.renderRequest(chat, { upstreamModel, maxOutputTokens }).body) as Json
}

const valid = (body: Json, ...rest: [string?, (number | null)?]): Json => {
  const request = render(body, ...rest)
  expect(responsesRequestComplaints(request)).toEqual([])
  return request
}

const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }

describe('goes to the Responses API', () => {
  const chat = (body: Json) =>
    ChatRequestSchema.parse({ model: 'openai/m', messages: [user], ...body })
  test.each([
    ['gpt-5.4', {}, false],
    ['gpt-5.4', { tools: [] }, false],
    ['gpt-5.4', { tools: [weather] }, true],
    ['gpt-5.4-mini-2026-03-17', { tools: [weather] }, true],
    ['gpt-5-4-mini', { tools: [weather] }, true],
    ['gpt-5.6-luna', { tools: [weather] }, true],
    ['gpt-6-sol', { tools: [weather] }, true],
    ['gpt-5.10', { tools: [weather] }, true],
    ['gpt-5.3', { tools: [weather] }, false],
    ['gpt-5-2025-08-07', { tools: [weather] }, false],
    ['gpt-4-0613', { tools: [weather] }, false],
    ['o3', { tools: [weather] }, false],
    ['o3-pro', {}, true],
    ['o1-pro-2025-03-19', {}, true],
    ['gpt-5.5-pro', {}, true],
    ['gpt-5.3-codex', {}, true],
    ['gpt-5.1-codex-mini', {}, true],
    ['my-pro', {}, false],
  ] as const)('%s %j: %s', (name, body, wanted) => {
    expect(needsResponses(name, chat(body))).toBe(wanted)
  })
})

describe('a request', () => {
  test('stores nothing and takes the reasoning along', () => {
    expect(valid({})).toEqual({
      model: 'gpt-5.4',
      input: [{ type: 'message', ...user }],
      store: false,
      include: ['reasoning.encrypted_content'],
    })
    expect(valid({ store: true }, 'gpt-4.1')).not.toHaveProperty('include')
  })

  test('keeps the parts of a message', () => {
    const content = [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'image_url', image_url: { url: 'https://x/a.png', detail: 'high' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'JVBERi0=' } },
      { type: 'file', file: { file_data: 'https://x/a.pdf' } },
      { type: 'file', file: { file_id: 'file-1' } },
    ]
    expect(
      field(valid({ messages: [{ role: 'user', content }] }), 'input', '0', 'content'),
    ).toEqual([
      { type: 'input_text', text: 'a' },
      { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'input_image', image_url: 'https://x/a.png', detail: 'high' },
      {
        type: 'input_file',
        filename: 'a.pdf',
        file_data: 'data:application/pdf;base64,JVBERi0=',
      },
      { type: 'input_file', file_url: 'https://x/a.pdf' },
      { type: 'input_file', file_id: 'file-1' },
    ])
  })

  test('keeps reasoning, text and calls of an answer in their places', () => {
    const details = [
      {
        type: 'reasoning.summary',
        summary: 'one ',
        index: 0,
        id: 'rs_1',
        format: 'openai-responses-v1',
      },
      { type: 'reasoning.summary', summary: 'whole', index: 0 },
      { type: 'reasoning.summary', summary: 'second', index: 0, part: 1 },
      { type: 'reasoning.encrypted', data: 'AAA', index: 0, format: 'openai-responses-v1' },
      { type: 'reasoning.text', text: 'foreign', signature: 's', format: 'anthropic-claude-v1' },
      { type: 'reasoning.encrypted', data: 'foreign', format: 'google-gemini-v1' },
      { type: 'reasoning.summary', summary: 'nothing to replay', index: 1 },
      { type: 'reasoning.encrypted', data: 'BBB', index: 2, id: 'rs_2' },
    ]
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: '{}' },
    })
    const assistant = {
      role: 'assistant',
      content: 'I look.',
      phase: 'commentary',
      reasoning_details: details,
      tool_calls: [call('call_1'), call('call_2')],
    }
    const result = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' }
    const { input } = valid({ messages: [user, assistant, result], tools: [weather] })
    const called = { type: 'function_call', name: 'weather', arguments: '{}' }
    expect(input).toEqual([
      { type: 'message', ...user },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [
          { type: 'summary_text', text: 'one whole' },
          { type: 'summary_text', text: 'second' },
        ],
        encrypted_content: 'AAA',
      },
      { type: 'message', role: 'assistant', content: 'I look.', phase: 'commentary' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'BBB' },
      { ...called, call_id: 'call_1' },
      { ...called, call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
    ])
  })

  test('takes each encrypted piece for an item, where a client has lost their places', () => {
    const detail = (data: string) => ({
      type: 'reasoning.encrypted',
      data,
      format: 'openai-responses-v1',
    })
    const said = { role: 'assistant', content: 'a', reasoning_details: [detail('A'), detail('B')] }
    expect(valid({ messages: [user, said] }).input).toMatchObject([
      user,
      { encrypted_content: 'A' },
      { encrypted_content: 'B' },
      { role: 'assistant' },
    ])
  })

  test('tells a custom tool from a function, in the calls and their results', () => {
    const custom = { id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }
    const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } }
    const request = valid({
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [custom] },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: '1' }] },
      ],
      tools: [{ type: 'custom', custom: { name: 'sql', format } }],
      tool_choice: { type: 'custom', custom: { name: 'sql' } },
    })
    expect(field(request, 'input', '1', 'type')).toBe('custom_tool_call')
    expect(field(request, 'input', '2')).toMatchObject({
      type: 'custom_tool_call_output',
      output: [{ type: 'input_text', text: '1' }],
    })
    expect(field(request, 'tools', '0', 'format')).toEqual({
      type: 'grammar',
      syntax: 'lark',
      definition: 'start: "a"',
    })
    expect(request.tool_choice).toEqual({ type: 'custom', name: 'sql' })
  })

  test.each([
    ['auto', 'auto'],
    ['any', 'required'],
    [
      { type: 'function', function: { name: 'weather' } },
      { type: 'function', name: 'weather' },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [weather] } },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'weather' }] },
    ],
  ])('has the choice of tools %j', (tool_choice, wanted) => {
    expect(valid({ tools: [weather], tool_choice }).tool_choice).toEqual(wanted)
  })

  test.each([
    [{ reasoning_effort: 'high' }, 'gpt-5.4', { effort: 'high' }],
    [{ reasoning: { effort: 'low' } }, 'gpt-5.4', { effort: 'low', summary: 'auto' }],
    [{ reasoning: { effort: 'low', exclude: true } }, 'gpt-5.4', { effort: 'low' }],
    [{ reasoning: { effort: 'none' } }, 'gpt-5.4', { effort: 'none' }],
    [{ reasoning: { summary: 'detailed' } }, 'o3-pro', { summary: 'detailed' }],
    [{ reasoning_effort: 'minimal' }, 'gpt-5.6-luna', { effort: 'low' }],
    [{ reasoning_effort: 'minimal' }, 'gpt-5-mini', { effort: 'minimal' }],
  ])('asks to reason: %j of %s', (body, model, wanted) => {
    expect(valid(body, model).reasoning).toEqual(wanted)
  })

  test('leaves chance out only where the model reasons', () => {
    const body = { temperature: 0.3, top_p: 0.5 }
    expect(valid(body)).toMatchObject(body)
    expect(valid({ ...body, reasoning_effort: 'low' })).not.toHaveProperty('temperature')
    expect(valid(body, 'gpt-5.6-sol')).not.toHaveProperty('top_p')
    expect(valid(body, 'my-deployment')).toMatchObject(body)
  })

  test('keeps the smallest of all maxima', () => {
    expect(valid({ max_tokens: 100 }, 'gpt-5.4', 50).max_output_tokens).toBe(50)
    expect(valid({ max_completion_tokens: 20 }, 'gpt-5.4', 50).max_output_tokens).toBe(20)
  })

  test('asks for logprobs, a form of text and its length', () => {
    const schema = { name: 'n', schema: { type: 'object' }, strict: true, description: 'd' }
    const request = valid({
      logprobs: true,
      top_logprobs: 2,
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: schema },
    })
    expect(request.include).toContain('message.output_text.logprobs')
    expect(request.top_logprobs).toBe(2)
    expect(request.text).toEqual({ verbosity: 'low', format: { type: 'json_schema', ...schema } })
  })

  const said = (message: Json) => ({ messages: [user, message] })
  test.each([
    [{ n: 2 }, 'unsupported_parameter n'],
    [{ stop: ['x'] }, 'unsupported_parameter stop'],
    [{ logit_bias: { 1: 2 } }, 'unsupported_parameter logit_bias'],
    [{ modalities: ['audio'] }, 'unsupported_parameter modalities'],
    [{ max_tokens: 1 }, 'unsupported_parameter max_tokens'],
    [{ reasoning: { max_tokens: 99 } }, 'unsupported_parameter reasoning.max_tokens'],
    [{ response_format: { type: 'grammar' } }, 'unsupported_parameter response_format.type'],
    [{ tools: [weather], tool_choice: { type: 'x' } }, 'unsupported_parameter tool_choice'],
    [{ tools: [{ type: 'web_search' }] }, 'unsupported_parameter tools[0].type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
      'unsupported_parameter messages[0].content[0]',
    ],
    [
      said({ role: 'assistant', content: [{ type: 'image_url', image_url: {} }] }),
      'unsupported_parameter messages[1].content[0]',
    ],
    [
      said({ role: 'assistant', function_call: { name: 'a' } }),
      'unsupported_parameter messages[1].function_call',
    ],
    [said({ role: 'function', content: 'x' }), 'unsupported_parameter messages[1].role'],
    [said({ role: 'tool', content: 'x' }), 'invalid_request messages[1].tool_call_id'],
    [{ n: 1, seed: 7, frequency_penalty: 1, prediction: {}, logit_bias: {} }, 'nothing thrown'],
  ])('%j: %s', (body, wanted) => {
    expect(codeOf(() => render(body))).toBe(wanted)
  })
})
