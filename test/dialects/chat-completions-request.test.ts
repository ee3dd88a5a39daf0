import { describe, expect, test } from 'vitest'
import { chatCompletionsWith, type Quirks } from '../../src/dialects/chat-completions.ts'
import { type ChatRequest, ChatRequestSchema } from '../../src/wire/chat.ts'
import { codeOf } from './code-of.ts'

const target = { upstreamModel: 'upstream', maxOutputTokens: null as number | null }
const hello = { model: 'openai/x', messages: [{ role: 'user', content: 'hi' }] }

const render = (body: object, quirks: Quirks = {}, maxOutputTokens: number | null = null) => {
  const chat: ChatRequest = ChatRequestSchema.parse({ ...hello, ...body })
  const before = JSON.stringify(chat)
  const rendered = chatCompletionsWith(quirks).renderRequest(chat, { ...target, maxOutputTokens })
  expect(JSON.stringify(chat)).toBe(before)
  return JSON.parse(rendered.body) as Record<string, unknown>
}

describe('a request', () => {
  test('goes to the upstream model, less what is ours, with what we do not know', () => {
    const ours = { models: ['a/b'], provider: { sort: 'price' }, usage: { include: true } }
    expect(render({ ...ours, seed: 7, vendor_field: { a: [1] }, temperature: 0 })).toEqual({
      ...hello,
      model: 'upstream',
      seed: 7,
      vendor_field: { a: [1] },
      temperature: 0,
    })
  })

  test('asks for usage in every stream, whatever the client says, and only there', () => {
    expect(render({ stream: true }).stream_options).toEqual({ include_usage: true })
    const options = { include_usage: false, include_obfuscation: false }
    expect(render({ stream: true, stream_options: options }).stream_options).toEqual({
      include_usage: true,
      include_obfuscation: false,
    })
    const whole = render({ stream: false, stream_options: options })
    expect(whole).not.toHaveProperty('stream_options')
    expect(whole).not.toHaveProperty('stream')
    expect(render({ stream: true }, { drops: ['stream_options'] })).not.toHaveProperty(
      'stream_options',
    )
  })

  test.each([
    [{}, undefined, null, {}],
    [{}, undefined, 50, { max_tokens: 50 }],
    [{ max_tokens: 20 }, undefined, 50, { max_tokens: 20 }],
    [{ max_tokens: 90 }, undefined, 50, { max_tokens: 50 }],
    [{ max_completion_tokens: 90 }, undefined, 50, { max_completion_tokens: 50 }],
    [{ max_completion_tokens: 90 }, 'max_tokens', null, { max_tokens: 90 }],
    [{ max_tokens: 90 }, 'max_completion_tokens', 50, { max_completion_tokens: 50 }],
    [{ max_tokens: 90, max_completion_tokens: 70 }, undefined, null, { max_completion_tokens: 70 }],
    [{ max_tokens: null }, 'max_completion_tokens', 50, { max_completion_tokens: 50 }],
  ] as const)(
    'with cap %j where only %s is taken and %s is payable sends %j',
    (asked, only, most, wanted) => {
      const { model, messages, ...cap } = render(
        asked,
        only === undefined ? {} : { outputCap: only },
        most,
      )
      expect([model, messages]).toEqual(['upstream', hello.messages])
      expect(cap).toEqual(wanted)
    },
  )

  test.each([
    [{ effort: 'low', exclude: true }, {}, { reasoning_effort: 'low' }],
    [
      { effort: 'low', max_tokens: 9 },
      { reasoning: 'reasoning' },
      { reasoning: { effort: 'low', max_tokens: 9 } },
    ],
    [{ effort: 'high' }, { reasoning: 'thinking' }, { thinking: { type: 'enabled' } }],
    [{ effort: 'none' }, { reasoning: 'thinking' }, { thinking: { type: 'disabled' } }],
    [{ effort: 'none' }, { reasoning: 'enable_thinking' }, { enable_thinking: false }],
    [{ effort: 'none' }, { reasoning: 'none' }, {}],
    [{ exclude: true }, {}, {}],
  ] as const)('asks for reasoning %j under %j by %j', (reasoning, quirks, wanted) => {
    const { model, messages, ...rest } = render({ reasoning }, quirks)
    expect([model, messages]).toEqual(['upstream', hello.messages])
    expect(rest).toEqual(wanted)
  })

  test("leaves the client's own reasoning_effort alone", () => {
    expect(
      render({ reasoning: { effort: 'low' }, reasoning_effort: 'high' }).reasoning_effort,
    ).toBe('high')
  })

  test('is refused where a field that changes the answer cannot be honoured', () => {
    const quirks: Quirks = { refuses: ['logprobs'], reasoning: 'none' }
    expect(codeOf(() => render({ logprobs: true }, quirks))).toBe('unsupported_parameter logprobs')
    expect(codeOf(() => render({ logprobs: false }, quirks))).toBe('nothing thrown')
    expect(codeOf(() => render({ reasoning: { effort: 'low' } }, quirks))).toBe(
      'unsupported_parameter reasoning.effort',
    )
    expect(codeOf(() => render({ reasoning: { max_tokens: 1000 } }))).toBe(
      'unsupported_parameter reasoning.max_tokens',
    )
  })

  test('loses hints, changes names and drops fields of earlier answers as the quirks say', () => {
    const messages = [
      { role: 'user', content: 'a', name: 'b' },
      { role: 'assistant', content: 'c', refusal: null, reasoning: 'd' },
      { role: 'user', content: 'e', reasoning: 'the user may say so' },
    ]
    const quirks: Quirks = {
      drops: ['user'],
      renames: { seed: 'random_seed' },
      dropsFromMessages: ['refusal', 'reasoning'],
    }
    expect(render({ user: 'u', seed: 3, messages }, quirks)).toEqual({
      model: 'upstream',
      random_seed: 3,
      messages: [messages[0], { role: 'assistant', content: 'c' }, messages[2]],
    })
  })
})
