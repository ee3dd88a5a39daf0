import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { now } from './received-request.ts'
import {
  type ScriptedUpstream,
  type ScriptInput,
  script,
  startScriptedUpstream,
} from './scripted-upstream.ts'
import { countWords, vocabulary, words } from './vocabulary.ts'

let upstream: ScriptedUpstream
let openai: OpenAI
beforeEach(async () => {
  upstream = await startScriptedUpstream()
  openai = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: 'sk-scripted', maxRetries: 0 })
})
afterEach(() => upstream.close())

const request = (wanted: ScriptInput) => ({
  model: 'scripted',
  messages: [{ role: 'user' as const, content: script(wanted) }],
})
const post = (body: object, signal: AbortSignal | null = null) =>
  fetch(`${upstream.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal,
  })
const postStream = (wanted: ScriptInput, signal?: AbortSignal) =>
  post({ ...request(wanted), stream: true, stream_options: { include_usage: true } }, signal)

describe('the vocabulary', () => {
  test('has one token a word, alone and after a blank', () => {
    for (const word of vocabulary) {
      expect([word, countTokens(word), countTokens(` ${word}`)]).toEqual([word, 1, 1])
    }
  })
  test('has as many tokens as words in a long text, wherever it is cut', () => {
    for (const [from, count] of [
      [0, 1],
      [0, 1000],
      [7, 500],
    ] as const) {
      expect(countTokens(words(from, count))).toBe(count)
      expect(countWords(words(from, count))).toBe(count)
    }
    expect(words(0, 10) + words(10, 10)).toBe(words(0, 20))
  })
})

describe('an answer as scripted', () => {
  test('is read whole by the official SDK', async () => {
    const answer = await openai.chat.completions.create(
      request({ id: 'a', chunks: 4, tokensPerChunk: 3 }),
    )
    expect(answer.choices[0]?.message.content).toBe(words(0, 12))
    expect(answer.usage).toEqual({ prompt_tokens: 10, completion_tokens: 12, total_tokens: 22 })
    expect(upstream.request('a')).toMatchObject({
      authorization: 'Bearer sk-scripted',
      stream: false,
      tokensProduced: 12,
      tokensSent: 12,
      peerClosedAt: null,
      completedAt: expect.any(Number),
    })
  })
  test('is read as a stream by the official SDK', async () => {
    const stream = await openai.chat.completions.create({
      ...request({ id: 'a', chunks: 20, tokensPerChunk: 2, cutBytes: 7, noise: false }),
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: unknown
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    expect(text).toBe(words(0, 40))
    expect(usage).toMatchObject({ completion_tokens: 40 })
    expect(upstream.request('a')).toMatchObject({ tokensProduced: 40, tokensSent: 40, usage })
  })
  test('ends at the maximum of the request', async () => {
    const answer = await openai.chat.completions.create({
      ...request({ chunks: 50 }),
      max_completion_tokens: 7,
    })
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: words(0, 7) },
    })
    expect(upstream.requests[0]?.maxTokens).toBe(7)
  })
  test('calls a tool', async () => {
    const toolCall = { name: 'toll', arguments: '{"bridge": 7}' }
    const answer = await openai.chat.completions.create(request({ toolCall }))
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: toolCall }] },
    })
    const text = await (await postStream({ toolCall, chunks: 4 })).text()
    const pieces = [...text.matchAll(/"arguments":("(?:[^"\\]|\\.)*")/g)].map(([, piece]) =>
      JSON.parse(piece ?? '""'),
    )
    expect(pieces.join('')).toBe(toolCall.arguments)
  })
  test('refuses with the status and headers wanted', async () => {
    const response = await post(request({ status: 429, headers: { 'retry-after': '3' } }))
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3'])
  })
  test('lies about usage, or reports none', async () => {
    const lie = await openai.chat.completions.create(
      request({ usage: { completion_tokens: 9999 } }),
    )
    expect(lie.usage?.completion_tokens).toBe(9999)
    expect(upstream.requests[0]).toMatchObject({
      tokensProduced: 5,
      usage: { completion_tokens: 9999 },
    })
    expect(await (await postStream({ noUsage: true })).text()).not.toContain('usage')
  })
  test('is an error where the script has an unknown field', async () => {
    const response = await post({ messages: [{ role: 'user', content: '{"chunk": 3}' }] })
    expect(response.status).toBe(500)
  })
  test('comes from the test where it sets one', async () => {
    upstream.answer = ({ response }) => void response.writeHead(418).end()
    expect((await post(request({}))).status).toBe(418)
  })
})

describe('a fault as scripted', () => {
  test.each<[string, ScriptInput, number]>([
    ['a cut socket', { chunks: 9, dieAfter: 3 }, 3],
    ['an early end', { chunks: 9, endAfter: 2 }, 2],
    ['an error event', { chunks: 9, errorAfter: 4 }, 4],
  ])('breaks the stream off by %s', async (_, wanted, tokens) => {
    const response = await postStream({ id: 'a', ...wanted, gapMs: 1 })
    const text = await readAll(response)
    expect(text.split('"content"').length - 1).toBe(tokens)
    expect(text).not.toContain('[DONE]')
    expect(upstream.request('a')).toMatchObject({
      tokensProduced: tokens,
      tokensSent: tokens,
      completedAt: null,
      peerClosedAt: null,
      faultAt: expect.any(Number),
    })
  })
  test('hangs, and notes when the peer left', async () => {
    for (const wanted of [
      { id: 'head', hangBeforeHead: true },
      { id: 'body', hangAfter: 2 },
    ]) {
      const leave = new AbortController()
      const reading = postStream(wanted, leave.signal)
        .then(readAll)
        .catch(() => '')
      await expect.poll(() => upstream.requests.some(({ id }) => id === wanted.id)).toBe(true)
      await new Promise(resolve => setTimeout(resolve, 50))
      const leftAt = now()
      leave.abort()
      await reading
      await expect.poll(() => upstream.request(wanted.id).peerClosedAt).not.toBeNull()
      expect((upstream.request(wanted.id).peerClosedAt ?? 0) - leftAt).toBeLessThan(100)
      expect(upstream.request(wanted.id).completedAt).toBeNull()
    }
  })
  test('stops producing when the peer left', async () => {
    const leave = new AbortController()
    const response = await postStream({ id: 'a', chunks: 1000, gapMs: 2 }, leave.signal)
    await response.body?.getReader().read()
    leave.abort()
    await expect.poll(() => upstream.request('a').peerClosedAt).not.toBeNull()
    const { tokensProduced } = upstream.request('a')
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(upstream.request('a').tokensProduced).toBe(tokensProduced)
    expect(tokensProduced).toBeLessThan(1000)
  })
  test.each<[string, ScriptInput, RegExp]>([
    ['garbage', { garbage: true, garbageAfter: 1 }, /\{"choices": \[\n\n/],
    ['no end mark', { noDone: true }, /"finish_reason":"stop".*\n\ndata: .*\n\n$/],
    ['noise', { noise: true }, /: keep-alive\n\nevent: ping/],
  ])('streams %s', async (_, wanted, expected) => {
    expect(await (await postStream(wanted)).text()).toMatch(expected)
  })
})

test('gives its ledger to other processes', async () => {
  await post(request({ id: 'a' }))
  const ledger = await (await fetch(`${upstream.url}/__ledger`)).json()
  expect(ledger).toMatchObject([{ id: 'a', tokensProduced: 5 }])
  await fetch(`${upstream.url}/__ledger`, { method: 'DELETE' })
  expect(upstream.requests).toEqual([])
})

test('refuses to name a request that came twice', async () => {
  await post(request({ id: 'a' }))
  await post(request({ id: 'a' }))
  expect(() => upstream.request('a')).toThrow('2 requests')
  expect(() => upstream.request('b')).toThrow('0 requests')
})

/** What came before the body ended or broke. */
const readAll = async (response: Response): Promise<string> => {
  let text = ''
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += decoder.decode(part.value, { stream: true })
    }
  } catch {
    // A cut socket: what came counts.
  }
  return text
}
