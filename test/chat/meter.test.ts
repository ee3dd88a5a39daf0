import { afterAll, expect, test } from 'vitest'
import { Meter } from '../../src/chat/meter.ts'
import { TokenCounter } from '../../src/chat/token-counter.ts'
import type { ChatRequest } from '../../src/wire/chat.ts'

const chat: ChatRequest = { model: 'a/b', messages: [{ role: 'user', content: 'hello there' }] }
const counter = new TokenCounter()
afterAll(() => counter.close())

const said = (content: string) => ({
  choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
})

test('an answer cut short is charged the input that the upstream counted and the output delivered', async () => {
  const meter = new Meter(counter)
  meter.report({ tokens: { input: 1234, cacheRead: 50, output: 1 } }, true)
  meter.observe(said('one two three four five six'))
  const { usage, estimated } = await meter.usage(chat)
  expect(estimated).toBe(true)
  expect(usage.tokens).toEqual({ input: 1234, cacheRead: 50, output: 6 })
})

test('output that the upstream counted so far is the least', async () => {
  const meter = new Meter(counter)
  meter.report({ tokens: { input: 5, output: 90 } }, true)
  meter.observe(said('one'))
  expect((await meter.usage(chat)).usage.tokens).toEqual({ input: 5, output: 90 })
})

test('the final report stands as it is', async () => {
  const meter = new Meter(counter)
  meter.report({ tokens: { input: 5, output: 1 } }, true)
  meter.observe(said('one two three four'))
  meter.report({ tokens: { input: 6, output: 2 } })
  expect(await meter.usage(chat)).toEqual({
    usage: { tokens: { input: 6, output: 2 } },
    estimated: false,
  })
})

test('a report of no token at all is none where words were delivered', async () => {
  const meter = new Meter(counter)
  meter.observe(said('one two three four'))
  meter.report({ tokens: { input: 0, output: 0 }, counts: { request: 1 } })
  expect(await meter.usage(chat)).toEqual({
    usage: { tokens: { input: 2, output: 4 }, counts: { request: 1 } },
    estimated: true,
  })
})

test('a report of no token stands where nothing was delivered', async () => {
  const meter = new Meter(counter)
  const usage = { tokens: { input: 0, output: 0 } }
  meter.report(usage)
  expect(await meter.usage(chat)).toEqual({ usage, estimated: false })
})
