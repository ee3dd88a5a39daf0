import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../src/dialects/chat-completions.ts'
import { chunkOf, type StreamEvent } from '../../src/dialects/dialect.ts'

const head = '{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":'
const event = (literal: string, tail = '},"finish_reason":null}]}') =>
  `data: ${head}${literal}${tail}\n\n`
const first = event('"a"').replace('{"content"', '{"role":"assistant","content"')

const read = (...events: string[]): StreamEvent[] => {
  const reader = chatCompletions.readStream()
  return events.flatMap(one => reader.push(Buffer.from(one)))
}
const lastOf = (...events: string[]): StreamEvent =>
  read(first, event('"learn"'), ...events).at(-1) ?? {}

describe('the short way for pieces of text', () => {
  test('is taken from the second piece of text on', () => {
    expect(read(first, event('"b"'), event('"c"')).map(({ text }) => text?.text)).toEqual([
      undefined,
      undefined,
      'c',
    ])
  })

  test.each([
    ['plain', '"word"', 'word'],
    ['escaped', '"a\\n\\"b\\\\"', 'a\n"b\\'],
    ['of other scripts', '"日本 😀"', '日本 😀'],
  ])('keeps text that is %s', (_name, literal, wanted) => {
    const got = lastOf(event(literal))
    expect(got.text?.text).toBe(wanted)
    expect(chunkOf(got)).toEqual({
      choices: [{ index: 0, delta: { content: wanted }, logprobs: null, finish_reason: null }],
    })
  })

  test.each([
    ['a unicode escape', event('"\\u00e9"'), 'é'],
    ['a finish reason', event('"x"', '},"finish_reason":"stop"}]}'), 'x'],
    ['another field behind', event('"x"', ',"refusal":"no"},"finish_reason":null}]}'), 'x'],
    [
      'usage',
      event('"x"', '},"finish_reason":null}],"usage":{"prompt_tokens":1,"completion_tokens":2}}'),
      'x',
    ],
    ['another choice', event('"x"').replace('"index":0', '"index":1'), 'x'],
    ['the key twice', event('"y","content":"x"'), 'x'],
  ])('is not taken for %s', (_name, odd, wanted) => {
    const got = lastOf(odd)
    expect(got.text).toBeUndefined()
    expect(got.chunk?.choices[0]?.delta.content).toBe(wanted)
  })

  test.each([
    ['a literal that does not end', event('"x')],
    ['a raw control character', event('"a\u0001b"')],
    ['an escape that JSON does not know', event('"\\q"')],
  ])('leaves %s to the parser, which refuses it', (_name, broken) => {
    expect(() => lastOf(broken)).toThrow(
      'The provider sent an answer that this gateway does not understand.',
    )
  })

  test('skips padding, which differs in each event', () => {
    const padded = (text: string, padding: string) =>
      event(JSON.stringify(text), `},"finish_reason":null}],"obfuscation":"${padding}"}`)
    const got = lastOf(padded('b', 'xyz'), padded('c', 'q'), padded('d', ''))
    expect(got.text?.text).toBe('d')
    expect(JSON.stringify(chunkOf(got))).not.toContain('obfuscation')
  })
})
