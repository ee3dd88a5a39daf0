import { describe, expect, test } from 'vitest'
import { bedrockConverse as dialect } from '../../src/dialects/bedrock-converse.ts'
import { call, haiku, hello, refusal, render, tool } from './bedrock-converse-render.ts'
import type { Json } from './proof.ts'

describe('the path', () => {
  test.each([
    [haiku, 'us.anthropic.claude-haiku-4-5-20251001-v1%3A0'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12',
      'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fab12',
    ],
    ['a b/../c?d#e', 'a%20b%2F..%2Fc%3Fd%23e'],
  ])('of %s holds the name in one step', (model, step) => {
    const target = { upstreamModel: model, maxOutputTokens: null }
    const pathOf = (stream: boolean) =>
      dialect.renderRequest({ model: 'x', messages: hello, stream }, target).path
    expect(pathOf(false)).toBe(`/model/${step}/converse`)
    expect(pathOf(true)).toBe(`/model/${step}/converse-stream`)
  })
})

describe('marks of the prompt cache', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const point = { cachePoint: { type: 'default' } }
  const chat = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'a', ...mark }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b', ...mark },
          { type: 'text', text: 'c' },
        ],
      },
      { role: 'assistant', content: '', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'd', ...mark }] },
    ],
    tools: [tool('f'), { ...tool('g'), ...mark }],
    ...mark,
  }

  test('become points of their own behind what they end', () => {
    const { system, messages, toolConfig } = render(chat)
    expect(system).toEqual([{ text: 'a' }, point])
    expect(messages[0].content).toEqual([{ text: 'b' }, point, { text: 'c' }])
    expect(messages[2].content).toEqual([
      { toolResult: { toolUseId: 'a', content: [{ text: 'd' }] } },
      point,
    ])
    expect(toolConfig.tools[2]).toEqual(point)
  })

  test('stand where the model takes them, and are left out elsewhere', () => {
    expect(JSON.stringify(render(chat, 'amazon.nova-lite-v1:0').toolConfig)).not.toContain(
      'cachePoint',
    )
    expect(render(chat, 'amazon.nova-lite-v1:0').system).toHaveLength(2)
    expect(JSON.stringify(render(chat, 'meta.llama3-3-70b-instruct-v1:0'))).not.toContain(
      'cachePoint',
    )
  })
})

describe('tools', () => {
  const tools = [tool('f', { description: ' ', strict: true }), tool('g', { description: 'd' })]
  const llama = 'us.meta.llama4-maverick-17b-instruct-v1:0'

  test.each([
    [undefined, undefined],
    ['auto', undefined],
    ['required', { any: {} }],
    [{ type: 'function', function: { name: 'g' } }, { tool: { name: 'g' } }],
  ])('chosen by %j are chosen by %j', (tool_choice, wanted) => {
    expect(render({ tools, tool_choice }).toolConfig.toolChoice).toEqual(wanted)
  })

  test('are never an empty list', () => {
    expect(render({ tools: [] })).not.toHaveProperty('toolConfig')
    expect(render({ tools, tool_choice: 'none' })).not.toHaveProperty('toolConfig')
  })

  test('may be fewer by choice', () => {
    const allowed_tools = { mode: 'required', tools: [tool('g')] }
    const { toolConfig } = render({ tools, tool_choice: { type: 'allowed_tools', allowed_tools } })
    expect(toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'g' } }],
      toolChoice: { any: {} },
    })
    expect(toolConfig.tools).toHaveLength(1)
  })

  test('are strict for Claude alone, and described where there is a description', () => {
    const specs = (model: string) =>
      render({ tools }, model).toolConfig.tools.map((one: Json) => one.toolSpec)
    expect(specs(haiku)).toMatchObject([{ strict: true }, { description: 'd' }])
    expect(specs(haiku)[0]).not.toHaveProperty('description')
    expect(specs(llama)[0]).not.toHaveProperty('strict')
  })

  test('called one at a time are asked for in Claude’s words, and of others not at all', () => {
    const one = { tools, parallel_tool_calls: false }
    expect(render({ ...one, tool_choice: 'required' })).toMatchObject({
      additionalModelRequestFields: {
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      },
    })
    expect(render({ ...one, tool_choice: 'required' }).toolConfig).not.toHaveProperty('toolChoice')
    expect(refusal(one, llama)).toBe('unsupported_parameter parallel_tool_calls')
  })

  test.each([
    [{ tools: [{ type: 'custom', custom: {} }] }, 'tools[0].type'],
    [{ tools, tool_choice: { type: 'custom' } }, 'tool_choice'],
  ])('of another kind are refused: %j', (chat, param) => {
    expect(refusal(chat)).toBe(`unsupported_parameter ${param}`)
  })
})

describe('the form of the answer', () => {
  const json_schema = { name: 'n', schema: { type: 'object', properties: {} } }
  const bySchema = { response_format: { type: 'json_schema', json_schema } }
  const anyJson = { response_format: { type: 'json_object' } }

  test('by schema is told as one where the model takes it', () => {
    const told = (model: string) =>
      render(bySchema, model).outputConfig.textFormat.structure.jsonSchema
    expect(told(haiku)).toEqual({
      name: 'n',
      schema: '{"type":"object","properties":{},"additionalProperties":false}',
    })
    expect(JSON.parse(told('qwen.qwen3-32b-v1:0').schema)).toEqual(json_schema.schema)
  })

  test('is made by a tool elsewhere', () => {
    const { toolConfig } = render(bySchema, 'amazon.nova-pro-v1:0')
    expect(toolConfig).toMatchObject({
      tools: [
        { toolSpec: { name: 'tollgate_json_answer', inputSchema: { json: json_schema.schema } } },
      ],
      toolChoice: { tool: { name: 'tollgate_json_answer' } },
    })
    const both = render({ ...anyJson, tools: [tool('f')] }).toolConfig
    expect(both.tools).toHaveLength(2)
    expect(both.toolChoice).toEqual({ any: {} })
    expect(render(anyJson, 'qwen.qwen3-32b-v1:0').outputConfig.textFormat.type).toBe('json_schema')
  })
})

describe('reasoning', () => {
  const effort = (of: string) => ({ reasoning: { effort: of } })
  const sonnet46 = 'global.anthropic.claude-sonnet-4-6'
  const fieldsOf = (chat: object, model: string) => render(chat, model).additionalModelRequestFields

  test.each([
    [haiku, 'low', { thinking: { type: 'enabled', budget_tokens: 6553 } }],
    [haiku, 'none', { thinking: { type: 'disabled' } }],
    [sonnet46, 'high', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['openai.gpt-oss-120b-1:0', 'minimal', { reasoning_effort: 'low' }],
    [
      'us.amazon.nova-2-lite-v1:0',
      'high',
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    ],
    ['us.amazon.nova-2-lite-v1:0', 'none', { reasoningConfig: { type: 'disabled' } }],
    ['us.meta.llama4-maverick-17b-instruct-v1:0', 'none', undefined],
  ])('of %s with the effort %s is %j', (model, of, wanted) => {
    expect(fieldsOf(effort(of), model)).toEqual(wanted)
  })

  test('has a budget inside a maximum', () => {
    const { inferenceConfig, additionalModelRequestFields } = render(
      { reasoning: { max_tokens: 8000 }, max_tokens: 5000 },
      haiku,
      4000,
    )
    expect(inferenceConfig).toEqual({ maxTokens: 4000 })
    expect(additionalModelRequestFields.thinking.budget_tokens).toBe(3999)
    expect(render(effort('low')).inferenceConfig.maxTokens).toBe(64_000)
  })

  test('of Nova gives way to a maximum of tokens', () => {
    const chat = { ...effort('high'), max_tokens: 100 }
    expect(fieldsOf(chat, 'us.amazon.nova-2-lite-v1:0').reasoningConfig.maxReasoningEffort).toBe(
      'medium',
    )
  })

  test('gives way to a forced tool, and keeps an effort beside the form of the answer', () => {
    const forced = { ...effort('low'), tools: [tool('f')], tool_choice: 'required' }
    expect(render(forced)).not.toHaveProperty('additionalModelRequestFields')
    const json_schema = { name: 'n', schema: { type: 'object', properties: {} } }
    const formed = { ...effort('low'), response_format: { type: 'json_schema', json_schema } }
    expect(render(formed, sonnet46)).toMatchObject({
      outputConfig: { effort: 'low', textFormat: {} },
      additionalModelRequestFields: { thinking: { type: 'adaptive' } },
    })
  })

  test('is off where a call came without it, and takes no sampling where it is on', () => {
    const messages = [
      ...hello,
      { role: 'assistant', content: '', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    expect(render({ ...effort('low'), messages })).not.toHaveProperty(
      'additionalModelRequestFields',
    )
    expect(render({ ...effort('low'), temperature: 0.5 }).inferenceConfig).toEqual({
      maxTokens: 64_000,
    })
  })

  test('of another provider is not sent back', () => {
    const reasoning_details = [
      { type: 'reasoning.text', text: 'a', signature: 's', format: 'google-gemini-v1', index: 0 },
      { type: 'reasoning.text', text: 'b', index: 1 },
    ]
    const messages = [...hello, { role: 'assistant', content: 'c', reasoning_details }]
    expect(render({ messages }).messages[1].content).toEqual([{ text: 'c' }])
  })

  test.each([
    [effort('low'), 'us.deepseek.r1-v1:0', 'reasoning.effort'],
    [{ reasoning: { max_tokens: 2000 } }, 'openai.gpt-oss-20b-1:0', 'reasoning.max_tokens'],
    [{ thinking: { type: 'enabled' } }, 'amazon.nova-pro-v1:0', 'thinking'],
  ])('as %j of %s is refused', (chat, model, param) => {
    expect(refusal(chat, model)).toBe(`unsupported_parameter ${param}`)
  })
})

describe('the rest', () => {
  test('has its place, or is left out where it is a hint', () => {
    expect(
      render({
        max_completion_tokens: 10,
        temperature: 1.5,
        stop: 'x',
        top_k: 5,
        user: 'u',
        seed: 1,
        frequency_penalty: 0.5,
        metadata: { a: 'b', tier: 'x'.repeat(300), 'odd key!': 'y', n: 1 },
        n: 1,
        logprobs: false,
      }),
    ).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 10, temperature: 1, stopSequences: ['x'] },
      additionalModelRequestFields: { top_k: 5 },
      requestMetadata: { a: 'b' },
    })
    expect(render({ top_p: 0.5 }).inferenceConfig).toEqual({ topP: 0.5 })
    expect(render({ top_k: 5 }, 'amazon.nova-lite-v1:0').additionalModelRequestFields).toEqual({
      inferenceConfig: { topK: 5 },
    })
    const opus = 'us.anthropic.claude-opus-4-8'
    expect(render({ temperature: 0.5 }, opus)).not.toHaveProperty('inferenceConfig')
  })

  test.each([
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ logit_bias: { 1: 2 } }, 'logit_bias'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ functions: [{}] }, 'functions'],
    [{ performanceConfig: { latency: 'optimized' } }, 'performanceConfig'],
    [{ additionalModelRequestFields: { a: 1 } }, 'additionalModelRequestFields'],
    [{ stop: ' ' }, 'stop'],
  ])('is refused where it changes the answer: %j', (chat, param) => {
    expect(refusal(chat)).toBe(`unsupported_parameter ${param}`)
  })
})
