import { describe, expect, test } from 'vitest'
import { bedrockConverse as dialect } from '../../src/dialects/bedrock-converse.ts'
import { codeOf } from './code-of.ts'
import { answerComplaints } from './proof.ts'

const whole = (content: object[], rest: object = {}) => {
  const { answer, usage } = dialect.parseResponse(
    JSON.stringify({
      output: { message: { role: 'assistant', content } },
      stopReason: 'end_turn',
      ...rest,
    }),
  )
  expect(answerComplaints(answer)).toEqual([])
  return { choice: answer.choices[0], usage }
}

describe('a whole answer', () => {
  test('has its text, its calls and its reasoning, without the provider’s own tools', () => {
    const { choice, usage } = whole(
      [
        { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
        { reasoningContent: { reasoningText: { text: ' so' } } },
        { text: 'a' },
        { toolUse: { toolUseId: 's', name: 'web', input: {}, type: 'server_tool_use' } },
        { toolResult: { toolUseId: 's', content: [{ text: 'hidden' }] } },
        { text: 'b' },
        { toolUse: { toolUseId: 't', name: 'f', input: { x: 1 } } },
        { toolUse: { name: 'g' } },
        { somethingNew: {} },
      ],
      { stopReason: 'tool_use' },
    )
    expect(choice).toEqual({
      index: 0,
      message: {
        role: 'assistant',
        content: 'ab',
        refusal: null,
        reasoning: 'hm so',
        reasoning_details: [
          {
            type: 'reasoning.text',
            text: 'hm',
            signature: 's',
            format: 'anthropic-claude-v1',
            index: 0,
          },
          { type: 'reasoning.text', text: ' so', signature: null, format: null, index: 1 },
        ],
        tool_calls: [
          { id: 't', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'call_1', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
      native_finish_reason: 'tool_use',
    })
    expect(usage).toBeNull()
  })

  test('through our own JSON tool is text', () => {
    const { choice } = whole([{ toolUse: { name: 'tollgate_json_answer', input: { a: 1 } } }], {
      stopReason: 'tool_use',
    })
    expect([choice?.message.content, choice?.finish_reason]).toEqual(['{"a":1}', 'stop'])
  })

  test('names its sources by address, or as places in the client’s documents', () => {
    const place = { documentChar: { documentIndex: 0, start: 0, end: 9 } }
    const { choice } = whole([
      { text: 'Well: ' },
      {
        citationsContent: {
          content: [{ text: 'cited' }],
          citations: [{ title: 't', sourceContent: [{ text: 'src' }], location: place }],
        },
      },
      { text: ' web.' },
      {
        citationsContent: {
          citations: [{ location: { web: { url: 'https://a/', domain: 'a' } } }],
        },
      },
    ])
    expect(choice?.message).toMatchObject({
      content: 'Well: cited web.',
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://a/', title: 'a', start_index: 11, end_index: 16 },
        },
      ],
      citations: [{ title: 't', location: place, start_index: 6, end_index: 11 }],
    })
  })

  test.each([
    ['', 'provider_invalid_response'],
    ['[]', 'provider_invalid_response'],
    ['{}', 'provider_invalid_response'],
    ['{"output":{"message":{}}}', 'provider_invalid_response'],
    [
      '{"__type":"com.amazon.coral.service#ThrottlingException","message":"slow"}',
      'provider_rate_limited',
    ],
  ])('that reads %j is %s', (body, code) => {
    expect(codeOf(() => dialect.parseResponse(body))).toBe(code)
  })
})

describe('usage', () => {
  test.each([
    [
      { inputTokens: 5, outputTokens: 7, totalTokens: 12 },
      { input: 5, output: 7 },
    ],
    [
      {
        inputTokens: 5,
        outputTokens: 7,
        totalTokens: 132,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 20,
        cacheDetails: [
          { ttl: '1h', inputTokens: 15 },
          { ttl: '5m', inputTokens: 5 },
        ],
      },
      { input: 5, cacheRead: 100, cacheWrite: 5, cacheWrite1h: 15, output: 7 },
    ],
  ])('reads %j', (reported, tokens) => {
    expect(whole([], { usage: reported }).usage).toEqual({ tokens })
  })

  test.each([
    { inputTokens: 5 },
    { inputTokens: -5, outputTokens: 1 },
    { inputTokens: 5.5, outputTokens: 1 },
    { inputTokens: '5', outputTokens: 1 },
    { inputTokens: 5, outputTokens: 1, cacheDetails: [{ ttl: '1h', inputTokens: -1 }] },
  ])('counts %j as not reported', reported => {
    expect(whole([], { usage: reported }).usage).toBeNull()
  })
})

describe('a refusal', () => {
  const codeFor = (status: number, errorType: string, message = 'no'): string =>
    dialect.parseError(
      status,
      { 'x-amzn-errortype': `${errorType}:http://internal.amazon.com/coral/` },
      JSON.stringify({ message }),
    ).code
  test.each([
    [400, 'ValidationException', 'invalid_request'],
    [400, 'IncompleteSignatureException', 'provider_rejected_credentials'],
    [403, 'UnrecognizedClientException', 'provider_rejected_credentials'],
    [403, 'ExpiredTokenException', 'provider_rejected_credentials'],
    [403, 'AccessDeniedException', 'provider_rejected_credentials'],
    [404, 'ResourceNotFoundException', 'provider_error'],
    [408, 'ModelTimeoutException', 'provider_timeout'],
    [424, 'ModelErrorException', 'provider_error'],
    [429, 'ThrottlingException', 'provider_rate_limited'],
    [429, 'ModelNotReadyException', 'provider_rate_limited'],
    [500, 'InternalServerException', 'provider_error'],
    [503, 'ServiceUnavailableException', 'provider_unavailable'],
  ])('%i %s is %s', (status, errorType, code) => {
    expect(codeFor(status, errorType)).toBe(code)
  })
})
