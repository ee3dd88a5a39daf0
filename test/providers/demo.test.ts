import { describe, expect, test } from 'vitest'
import { chunkOf } from '../../src/dialects/dialect.ts'
import { demo } from '../../src/providers/demo.ts'

const ask = (asked: object, signal = new AbortController().signal) =>
  demo.answerInProcess(
    JSON.stringify({
      model: 'tollgate',
      messages: [{ role: 'user', content: 'one two' }],
      ...asked,
    }),
    signal,
  )

const whole = async (asked: object) => {
  let body = ''
  for await (const bytes of ask(asked).chunks) body += bytes
  return demo.dialect.parseResponse(body)
}

const streamed = async (asked: object) => {
  const reader = demo.dialect.readStream()
  const events = []
  for await (const bytes of ask({ ...asked, stream: true }).chunks) {
    events.push(...reader.push(Buffer.from(bytes)))
  }
  events.push(...reader.end())
  const choices = events.flatMap(event => chunkOf(event)?.choices ?? [])
  return {
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    finish: choices.map(choice => choice.finish_reason).filter(Boolean),
    usage: events.flatMap(({ usage }) => usage ?? []).at(-1),
    done: reader.done,
  }
}

describe('the demo', () => {
  test('says what it is and what it was asked', async () => {
    const { answer, usage } = await whole({})
    expect(answer.choices[0]?.message.content).toMatch(
      /^Hello from Tollgate's built-in demo.*"one two"/,
    )
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(usage?.tokens.input).toBe(9)
    expect(usage?.tokens.output).toBeGreaterThan(20)
  })

  test('says the same streamed as whole, with the same usage', async () => {
    const expected = await whole({})
    const stream = await streamed({})
    expect(stream.text).toBe(expected.answer.choices[0]?.message.content)
    expect(stream.usage).toEqual(expected.usage)
    expect(stream.finish).toEqual(['stop'])
    expect(stream.done).toBe(true)
  })

  test('echoes text, parts and blanks unchanged', async () => {
    const text = '  päivää\n\n世界 👋  '
    expect(
      (await streamed({ model: 'echo', messages: [{ role: 'user', content: text }] })).text,
    ).toBe(text)
    const content = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: {} },
      { type: 'text', text: 'b' },
    ]
    expect((await streamed({ model: 'echo', messages: [{ role: 'user', content }] })).text).toBe(
      'a  b',
    )
  })

  test.each(['max_tokens', 'max_completion_tokens'])('stops at %s', async name => {
    const { answer, usage } = await whole({ [name]: 3 })
    expect(answer.choices[0]?.finish_reason).toBe('length')
    expect(usage?.tokens.output).toBe(3)
    expect((await streamed({ [name]: 3 })).finish).toEqual(['length'])
  })

  test('answers n times and reports n answers', async () => {
    const { answer, usage } = await whole({ n: 3, max_tokens: 5 })
    expect(answer.choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(usage?.tokens.output).toBe(15)
  })

  test('ends at once when it is aborted', async () => {
    const abort = new AbortController()
    let chunks = 0
    const reading = (async () => {
      for await (const _ of ask({ stream: true }, abort.signal).chunks)
        if (++chunks === 3) abort.abort()
    })()
    await expect(reading).rejects.toThrow(/abort/)
    expect(chunks).toBe(3)
  })
})
