import { describe, expect, test } from 'vitest'
import { bedrockConverse as dialect } from '../../src/dialects/bedrock-converse.ts'
import { chunkOf } from '../../src/dialects/dialect.ts'
import { frameOf } from './bedrock-converse-hub.ts'
import { chunksOf, expectSameWhenRecut, gather, run } from './proof.ts'

type Event = Record<string, object>

const delta = (contentBlockIndex: number, said: object): Event => ({
  contentBlockDelta: { contentBlockIndex, delta: said, p: 'abcdef' },
})
const start = (contentBlockIndex: number, toolUse: object): Event => ({
  contentBlockStart: { contentBlockIndex, start: { toolUse } },
})
const stop = (contentBlockIndex: number): Event => ({ contentBlockStop: { contentBlockIndex } })
const ending: Event[] = [
  { messageStop: { stopReason: 'end_turn' } },
  { metadata: { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } } },
]

const read = (...events: Event[]) => {
  const bytes = Buffer.concat(events.map(event => frameOf(event)))
  const outcome = run(dialect, [bytes])
  expectSameWhenRecut(dialect, bytes, outcome)
  return { outcome, message: gather(chunksOf(outcome)) }
}

describe('a stream', () => {
  test('takes the shortest way for pieces of text from the second on', () => {
    const texts = ['a', 'b', '"\n\\', '日本 😀', 'é', '']
    const { outcome, message } = read(...texts.map(text => delta(0, { text })), stop(0), ...ending)
    expect(outcome.events.filter(event => event.text)).toHaveLength(4)
    expect(message.content).toBe(texts.join(''))
    for (const event of outcome.events.slice(1, 5))
      expect(chunkOf(event)).toEqual({
        choices: [
          { index: 0, delta: { content: event.text?.text }, logprobs: null, finish_reason: null },
        ],
      })
  })

  test.each([
    ['another field behind', { text: 'b', more: 1 }],
    ['another block', null],
    ['an escape that needs a parser', { text: '\u0001' }],
  ])('reads %s in full', (_, said) => {
    const odd = said === null ? delta(1, { text: 'b' }) : delta(0, said)
    const { outcome } = read(delta(0, { text: 'a' }), odd, ...ending)
    expect(outcome.ending).toBe('done')
    expect(outcome.events.filter(event => event.text)).toHaveLength(0)
  })

  test('tells tools apart, gives one without parameters an empty object, and skips the provider’s own', () => {
    const { message } = read(
      start(0, { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use' }),
      delta(0, { toolUse: { input: '{"q":1}' } }),
      stop(0),
      start(1, { toolUseId: 'a', name: 'f' }),
      delta(1, { toolUse: { input: '' } }),
      stop(1),
      start(2, { toolUseId: 'b', name: 'g' }),
      delta(2, { toolUse: { input: '{"x"' } }),
      delta(2, { toolUse: { input: ':1}' } }),
      stop(2),
      { messageStop: { stopReason: 'tool_use' } },
      ...ending.slice(1),
    )
    expect(message.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '{"x":1}' } },
    ])
  })

  test('gives an answer through our own JSON tool as text', () => {
    const { outcome, message } = read(
      start(0, { toolUseId: 'j', name: 'tollgate_json_answer' }),
      delta(0, { toolUse: { input: '{"a":1}' } }),
      stop(0),
      { messageStop: { stopReason: 'tool_use' } },
      ...ending.slice(1),
    )
    expect(message).toEqual({ role: 'assistant', content: '{"a":1}', refusal: null })
    const last = chunksOf(outcome).at(-1)?.choices[0]
    expect([last?.finish_reason, last?.native_finish_reason]).toEqual(['stop', 'tool_use'])
  })

  test('gives reasoning such that it can be sent back unchanged, in whatever pieces it came', () => {
    const redacted = Buffer.from('EtkECkgI+secret/bytes=').toString('base64')
    const { message } = read(
      delta(0, { reasoningContent: { text: 'Let me ' } }),
      delta(0, { reasoningContent: { text: 'think.' } }),
      delta(0, { reasoningContent: { signature: 'sig-' } }),
      delta(0, { reasoningContent: { signature: 'nature' } }),
      stop(0),
      delta(1, { reasoningContent: { redactedContent: redacted } }),
      stop(1),
      delta(2, { text: 'Four.' }),
      stop(2),
      ...ending,
    )
    expect(message.reasoning).toBe('Let me think.')
    const { body } = dialect.renderRequest(
      { model: 'x', messages: [{ role: 'user', content: 'hi' }, message] },
      { upstreamModel: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', maxOutputTokens: null },
    )
    expect(JSON.parse(body).messages[1].content).toEqual([
      {
        reasoningContent: {
          reasoningText: { text: 'Let me think.', signature: 'sig-nature' },
        },
      },
      { reasoningContent: { redactedContent: redacted } },
      { text: 'Four.' },
    ])
  })

  test('without usage is whole once it is stopped', () => {
    const { outcome } = read(delta(0, { text: 'a' }), { messageStop: { stopReason: 'end_turn' } })
    expect(outcome.ending).toBe('done')
  })

  test('skips events that it does not know', () => {
    expect(
      read({ somethingNew: { a: 1 } }, delta(0, { text: 'a' }), ...ending).outcome.ending,
    ).toBe('done')
  })

  test.each([
    ['max_tokens', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['malformed_tool_use', 'error'],
    ['cosmic_ray', 'error'],
    ['constructor', 'error'],
  ])('that ends with %s ends with %s', (native, ours) => {
    const { outcome } = read(delta(0, { text: 'a' }), { messageStop: { stopReason: native } })
    const last = chunksOf(outcome).at(-1)?.choices[0]
    expect([last?.finish_reason, last?.native_finish_reason]).toEqual([ours, native])
  })

  const frames = Buffer.concat([frameOf(delta(0, { text: 'a' })), frameOf(stop(0))])
  const damaged = Buffer.from(frameOf(delta(0, { text: 'b' })))
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 6) ^ 1, damaged.length - 6)
  test.each([
    ['nothing', Buffer.alloc(0), 'provider_invalid_response'],
    ['an end without its end', frames, 'provider_invalid_response'],
    ['half a frame', Buffer.concat([frames, frames.subarray(0, 30)]), 'provider_invalid_response'],
    ['a damaged frame', Buffer.concat([frames, damaged]), 'provider_invalid_response'],
    ['no frames at all', Buffer.from('<html>Bad gateway</html>'), 'provider_invalid_response'],
    [
      'a block without an index',
      frameOf({ contentBlockDelta: { delta: { text: 'x' } } }),
      'provider_invalid_response',
    ],
  ])('with %s is an error', (_, bytes, code) => {
    const outcome = run(dialect, [bytes])
    expect(outcome.ending.split(':')[0]).toBe(code)
    expectSameWhenRecut(dialect, bytes, outcome)
  })

  test.each([
    ['throttlingException', {}, 'provider_rate_limited'],
    ['serviceUnavailableException', {}, 'provider_unavailable'],
    ['internalServerException', {}, 'provider_error'],
    ['modelTimeoutException', {}, 'provider_timeout'],
    ['modelStreamErrorException', { originalStatusCode: 424 }, 'provider_error'],
    [
      'modelStreamErrorException',
      { originalStatusCode: 400, originalMessage: 'Input is too long' },
      'context_length_exceeded',
    ],
    ['validationException', { message: 'Bad block' }, 'invalid_request'],
    ['accessDeniedException', {}, 'provider_rejected_credentials'],
  ])('that breaks off with %s %j is %s', (name, payload, code) => {
    const bytes = Buffer.concat([
      frameOf(delta(0, { text: 'a' })),
      frameOf({ [name]: { message: 'no', ...payload } }, 'exception'),
    ])
    const outcome = run(dialect, [bytes])
    expect(outcome.events).toHaveLength(1)
    expect(outcome.ending.split(':')[0]).toBe(code)
    expectSameWhenRecut(dialect, bytes, outcome)
  })
})
