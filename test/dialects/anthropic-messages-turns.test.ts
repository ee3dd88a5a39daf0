import { describe, expect, test } from 'vitest'
import { anthropicMessages as dialect } from '../../src/dialects/anthropic-messages.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { complaints, type Json, validatorOf } from './proof.ts'

const requestSchema = validatorOf('anthropic-messages.schema.json', 'CreateMessageParams')
const hi = { role: 'user', content: 'hi' }

const render = (messages: Json[]): Json => {
  const chat = ChatRequestSchema.parse({ model: 'anthropic/x', messages })
  const target = { upstreamModel: 'claude-sonnet-4-5', maxOutputTokens: null }
  const body = JSON.parse(dialect.renderRequest(chat, target).body) as Json
  expect(complaints(requestSchema, body)).toEqual([])
  return body
}

const turns = (messages: Json[]): unknown => render(messages).messages

describe('reasoning of earlier turns', () => {
  const format = 'anthropic-claude-v1'
  const back = (reasoning_details: Json[]): unknown =>
    (turns([hi, { role: 'assistant', content: 'a', reasoning_details }, hi]) as Json[])[1]?.content

  test('comes back unchanged, before the text', () => {
    expect(
      back([
        { type: 'reasoning.text', text: 't', signature: 's', format, index: 0 },
        { type: 'reasoning.encrypted', data: 'd', format, index: 1 },
      ]),
    ).toEqual([
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'a' },
    ])
  })

  test('is put together from the pieces of a stream', () => {
    expect(
      back([
        { type: 'reasoning.text', text: 'a', format, index: 0 },
        { type: 'reasoning.text', text: 'b', index: 0 },
        { type: 'reasoning.text', signature: 's', index: 0 },
        { type: 'reasoning.text', signature: 'unseen', format, index: 1 },
      ]),
    ).toEqual([
      { type: 'thinking', thinking: 'ab', signature: 's' },
      { type: 'thinking', thinking: '', signature: 'unseen' },
      { type: 'text', text: 'a' },
    ])
  })

  test('of another provider, or unsigned, is left out', () => {
    expect(
      back([
        { type: 'reasoning.text', text: 't', signature: 's', format: 'google-gemini-v1', index: 0 },
        { type: 'reasoning.text', text: 't', format, index: 1 },
        { type: 'reasoning.encrypted', data: 'd', format: 'openai-responses-v1', index: 2 },
        { type: 'reasoning.summary', summary: 'x', index: 3 },
      ]),
    ).toEqual([{ type: 'text', text: 'a' }])
  })
})

describe('a conversation', () => {
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{"a":1}' },
  })
  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: { a: 1 } })
  const text = (said: string) => ({ type: 'text', text: said })

  test('has all results of a turn in one message, before what the user says', () => {
    expect(
      turns([
        hi,
        { role: 'assistant', content: '', tool_calls: [call('a:1'), call('b')] },
        { role: 'tool', tool_call_id: 'a:1', content: 'one' },
        { role: 'user', content: 'and' },
        {
          role: 'tool',
          tool_call_id: 'b',
          content: [{ type: 'text', text: 'two' }],
          cache_control: { type: 'ephemeral' },
        },
      ]),
    ).toEqual([
      { role: 'user', content: [text('hi')] },
      { role: 'assistant', content: [use('a_1'), use('b')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a_1', content: [text('one')] },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: [text('two')],
            cache_control: { type: 'ephemeral' },
          },
          text('and'),
        ],
      },
    ])
  })

  test('merges turns of one side, and leaves out what says nothing', () => {
    expect(
      turns([
        hi,
        { role: 'assistant', content: ' ' },
        { role: 'user', content: [text(''), text('there')] },
      ]),
    ).toEqual([{ role: 'user', content: [text('hi'), text('there')] }])
  })

  test('keeps its first instructions apart, with their marks, and folds in later ones', () => {
    const marked = { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }
    const { system, messages } = render([
      { role: 'system', content: 'a' },
      { role: 'developer', content: [marked] },
      hi,
      { role: 'system', content: 'c' },
    ])
    expect(system).toEqual([text('a'), marked])
    expect(messages).toEqual([
      { role: 'user', content: [text('hi'), text('<system>\nc\n</system>')] },
    ])
  })

  test('starts with the user, whatever it starts with', () => {
    expect(turns([{ role: 'system', content: 'a' }])).toEqual([
      { role: 'user', content: [text('a')] },
    ])
    expect(turns([{ role: 'assistant', content: 'x ' }])).toEqual([
      { role: 'user', content: [text('(continued)')] },
      { role: 'assistant', content: [text('x')] },
    ])
  })

  test('takes images and documents, as bytes and by address', () => {
    const part = (content: Json) =>
      (turns([{ role: 'user', content: [content] }]) as { content: Json[] }[])[0]?.content[0]
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }
    const rows: [Json, Json][] = [
      [
        { type: 'image_url', image_url: { url: 'data:image/PNG;base64,AA==' } },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      ],
      [
        { type: 'image_url', image_url: { url: 'https://a/b' } },
        { type: 'image', source: { type: 'url', url: 'https://a/b' } },
      ],
      [
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
        },
        { type: 'document', source: pdf, title: 'a.pdf' },
      ],
      [
        { type: 'file', file: { file_data: 'JVBE' } },
        { type: 'document', source: pdf },
      ],
      [
        { type: 'file', file: { file_data: 'data:text/plain;base64,aMOp' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hé' } },
      ],
      [
        { type: 'file', file: { file_data: 'https://a/b.pdf' } },
        { type: 'document', source: { type: 'url', url: 'https://a/b.pdf' } },
      ],
      [
        { type: 'file', file: { file_data: 'data:image/gif;base64,AA==' } },
        { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'AA==' } },
      ],
    ]
    for (const [ours, theirs] of rows) expect(part(ours)).toEqual(theirs)
  })
})
