import { describe, expect, test } from 'vitest'
import { call, hello, refusal, render, tool } from './bedrock-converse-render.ts'
import { field, type Json } from './proof.ts'

const png = 'data:image/png;base64,iVBORw0KGgo='
const file = (file_data: string, filename?: string) => ({
  type: 'file',
  file: { file_data, ...(filename === undefined ? {} : { filename }) },
})

describe('a conversation', () => {
  const contents = (messages: object[], model?: string) => render({ messages }, model).messages

  test('starts with its instructions, alternates, and folds in later instructions', () => {
    const messages = [
      { role: 'system', content: 'a' },
      { role: 'developer', content: [{ type: 'text', text: 'b' }] },
      { role: 'user', content: 'c' },
      { role: 'user', content: 'd' },
      { role: 'system', content: 'e' },
      { role: 'assistant', content: 'f  ' },
    ]
    expect(render({ messages })).toMatchObject({
      system: [{ text: 'a' }, { text: 'b' }],
      messages: [
        {
          role: 'user',
          content: [{ text: 'c' }, { text: 'd' }, { text: '<system>\ne\n</system>' }],
        },
        { role: 'assistant', content: [{ text: 'f' }] },
      ],
    })
  })

  test('of instructions alone asks them, and one that the assistant starts is continued', () => {
    expect(render({ messages: [{ role: 'system', content: 'a' }] })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'a' }] }],
    })
    expect(contents([{ role: 'assistant', content: 'a' }])[0].role).toBe('user')
  })

  test('holds all results of a turn together, before any text', () => {
    const messages = [
      ...hello,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b', '{"x":1}')] },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'user', content: 'and' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [{ type: 'image_url', image_url: { url: png } }],
      },
    ]
    expect(contents(messages).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: 'a', name: 'f', input: {} } },
          { toolUse: { toolUseId: 'b', name: 'f', input: { x: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'a', content: [{ text: 'one' }] } },
          {
            toolResult: {
              toolUseId: 'b',
              content: [{ image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }],
            },
          },
          { text: 'and' },
        ],
      },
    ])
  })

  test('gives foreign ids a form that is taken, the same for call and result', () => {
    const id = `call|${'x'.repeat(80)}`
    const other = `call|${'x'.repeat(79)}y`
    const [, answered, results] = contents([
      ...hello,
      { role: 'assistant', content: '', tool_calls: [call(id), call(other)] },
      { role: 'tool', tool_call_id: id, content: 'one' },
    ])
    const [first, second] = answered.content.map((block: Json) =>
      field(block, 'toolUse', 'toolUseId'),
    )
    expect(first).toMatch(/^[\w-]{64}$/)
    expect(second).not.toBe(first)
    expect(results.content[0].toolResult.toolUseId).toBe(first)
  })

  test('without tools in which some were called has one that tells there is none', () => {
    const messages = [...hello, { role: 'assistant', content: '', tool_calls: [call('a')] }]
    const { toolConfig } = render({ messages })
    expect(toolConfig.tools.map((one: Json) => field(one, 'toolSpec', 'name'))).toEqual([
      'no_tool_available',
    ])
    expect(toolConfig).not.toHaveProperty('toolChoice')
    const none = render({ messages, tools: [tool('f')], tool_choice: 'none' })
    expect(none.toolConfig).toEqual(toolConfig)
  })

  test.each([
    [[{ role: 'function', name: 'f', content: 'x' }], 'messages[0].role'],
    [[{ role: 'assistant', function_call: { name: 'f' } }], 'messages[0].function_call'],
    [
      [{ role: 'system', content: [{ type: 'image_url', image_url: { url: png } }] }],
      'messages[0].content[0]',
    ],
    [[{ role: 'user', content: [{ type: 'hologram' }] }], 'messages[0].content[0]'],
    [
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x/a.png' } }] }],
      'messages[0].content[0]',
    ],
    [[{ role: 'user', content: [file('https://x/a.pdf')] }], 'messages[0].content[0]'],
    [
      [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }],
      'messages[0].content[0]',
    ],
  ])('with %j is refused', (messages, param) => {
    expect(refusal({ messages })).toBe(`unsupported_parameter ${param}`)
  })

  test.each([
    [[{ role: 'tool', content: 'x' }], 'messages[0].tool_call_id'],
    [
      [{ role: 'assistant', tool_calls: [call('a', '[1]')] }],
      'messages[0].tool_calls[0].function.arguments',
    ],
  ])('with %j is wrong', (messages, param) => {
    expect(refusal({ messages })).toBe(`invalid_request ${param}`)
  })
})

describe('media', () => {
  const blocks = (...content: object[]) =>
    render({ messages: [{ role: 'user', content }] }).messages[0].content

  test('come as bytes, each in its format', () => {
    expect(
      blocks(
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: png } },
        { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        file('data:application/pdf;base64,JVBE', 'My <report>_2026.v2.pdf'),
        file('data:text/plain,a%20b', 'my report 2026 v2.txt'),
        file('JVBE'),
        file('data:application/octet-stream;base64,UEs=', 'a.docx'),
        { ...file('data:application/json;base64,e30=', 'a.json'), citations: { enabled: true } },
        file(png, 'a.png'),
      ),
    ).toEqual([
      { text: 'look' },
      { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
      { video: { format: 'mp4', source: { bytes: 'AAAA' } } },
      { audio: { format: 'mp3', source: { bytes: 'AAAA' } } },
      { document: { format: 'pdf', name: 'My report 2026 v2', source: { bytes: 'JVBE' } } },
      { document: { format: 'txt', name: 'my report 2026 v2', source: { bytes: 'YSBi' } } },
      { document: { format: 'pdf', name: 'document', source: { bytes: 'JVBE' } } },
      { document: { format: 'docx', name: 'a', source: { bytes: 'UEs=' } } },
      {
        document: {
          format: 'txt',
          name: 'a 2',
          source: { bytes: 'e30=' },
          citations: { enabled: true },
        },
      },
      { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
    ])
  })

  test('that are documents are never alone', () => {
    const [first, second] = blocks({ ...file('JVBE'), cache_control: { type: 'ephemeral' } })
    expect(first.text).toMatch(/\w/)
    expect(second).toHaveProperty('document')
  })

  test.each([
    { type: 'image_url', image_url: { url: 'data:image/tiff;base64,AAAA' } },
    { type: 'image_url', image_url: { url: 'data:image/png,plain' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'midi' } },
    file('data:application/zip;base64,UEs=', 'a.zip'),
    file('data:text/plain,%zz'),
  ])('of an unknown kind are refused: %j', part => {
    expect(refusal({ messages: [{ role: 'user', content: [part] }] })).toBe(
      'unsupported_parameter messages[0].content[0]',
    )
  })
})
