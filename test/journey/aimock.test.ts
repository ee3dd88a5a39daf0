/**
 * The vendors' wires as a third party reads them, `@copilotkit/aimock`, running as every upstream of a whole gateway,
 * with official SDKs as clients: what they read, and what it costs.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LLMock } from '@copilotkit/aimock'
import { generateText, jsonSchema, streamText, type ToolSet, tool } from 'ai'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../harness.ts'
import {
  createVendorMock,
  ollamaModel,
  prompt,
  temperature,
  text,
  usage,
  type Vendor,
  vendors,
  weather,
} from '../upstream/vendor-mock.ts'

let mock: LLMock
let at: TestGateway
let openai: OpenAI
let folder: string

beforeAll(async () => {
  mock = createVendorMock()
  const url = (await mock.start()).replace(/\/$/, '')
  folder = await mkdtemp(join(tmpdir(), 'tollgate-aimock-'))
  const file = join(folder, 'providers.json')
  await writeFile(file, JSON.stringify({ providers: [{ id: 'ollama', models: [ollamaModel] }] }))
  const env: Record<string, string> = { PROVIDERS_FILE: file }
  for (const [id, { baseUrl, apiKey = 'sk-upstream-canary' }] of Object.entries(vendors)) {
    env[`${id.toUpperCase()}_BASE_URL`] = baseUrl(url)
    if (id !== 'ollama') env[`${id.toUpperCase()}_API_KEY`] = apiKey
  }
  at = await startTestGateway({ env })
  openai = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key, timeout: 10_000, maxRetries: 0 })
})
afterAll(async () => {
  await at.close()
  await mock.stop()
  await rm(folder, { recursive: true, force: true })
})

/** What `call` took from the balance. */
const chargeOf = async (call: () => Promise<void>): Promise<bigint> => {
  const before = at.balance()
  await call()
  await expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
  return before - at.balance()
}

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string' } },
  required: ['city'],
} as const
const tools = [{ type: 'function' as const, function: { name: weather.name, parameters } }]

/** The same question both ways, put together by the SDK. */
const ways = [
  [
    'whole',
    (body: OpenAI.ChatCompletionCreateParamsNonStreaming) => openai.chat.completions.create(body),
  ],
  [
    'streamed',
    (body: OpenAI.ChatCompletionCreateParamsNonStreaming) =>
      openai.chat.completions
        .stream({ ...body, stream: true, stream_options: { include_usage: true } })
        .finalChatCompletion(),
  ],
] as const

const priceOf = ({ rate }: Vendor, input: number, output: number): bigint =>
  BigInt(input) * rate.input + BigInt(output) * rate.output

describe.each(Object.entries(vendors))('%s', (id, vendor) => {
  const ask = (content: string): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
    model: `${id}/${vendor.model}`,
    messages: [{ role: 'user', content }],
    max_tokens: 200,
  })
  const price = priceOf(vendor, usage.input, usage.output)
  const told = { prompt_tokens: usage.input, completion_tokens: usage.output }

  test.each(ways)('text, %s', async (way, answer) => {
    const charge = await chargeOf(async () => {
      const completion = await answer(ask(prompt.text))
      expect(completion).toMatchObject({
        model: `${id}/${vendor.model}`,
        choices: [
          {
            message: { role: 'assistant', content: text, refusal: null },
            finish_reason: 'stop',
            native_finish_reason: vendor.native.text,
          },
        ],
        usage: { ...told, cost: Number(price) / 1e9 },
      })
    })
    expect(charge).toBe(price)
    expect(mock.getLastRequest()?.path).toBe(vendor.paths[way === 'whole' ? 0 : 1])
  })

  test.each(ways)('a tool call, %s', async (_way, answer) => {
    const charge = await chargeOf(async () => {
      const completion = await answer({ ...ask(prompt.tool), tools })
      const [choice] = completion.choices
      expect(choice).toMatchObject({
        finish_reason: 'tool_calls',
        native_finish_reason: vendor.native.tool,
      })
      const [call, ...more] = choice?.message.tool_calls ?? []
      expect(more).toEqual([])
      expect(call).toMatchObject({ type: 'function', function: { name: weather.name } })
      expect(call?.id).toMatch(/^\S+$/)
      const args = call?.type === 'function' ? call.function.arguments : ''
      expect(JSON.parse(args)).toEqual(JSON.parse(weather.arguments))
      expect(completion.usage).toMatchObject(told)
    })
    expect(charge).toBe(price)
  })

  test.each(ways)('an answer whose usage nobody set, %s', async (_way, answer) => {
    let completion: OpenAI.ChatCompletion | undefined
    const charge = await chargeOf(async () => {
      completion = await answer(ask(prompt.uncounted))
    })
    const { prompt_tokens = 0, completion_tokens = 0 } = completion?.usage ?? {}
    expect(charge).toBe(priceOf(vendor, prompt_tokens, completion_tokens))
    expect(charge).toBeGreaterThan(0n)
    if (vendor.guessesUsage) return
    expect(completion?.usage).toMatchObject({ estimated: true })
    expect(completion_tokens).toBe(countTokens(text))
  })

  test.each(ways)('a limit of the vendor, %s', async (_way, answer) => {
    const charge = await chargeOf(async () => {
      await expect(answer(ask(prompt.limited))).rejects.toMatchObject({
        status: 429,
        code: 'provider_rate_limited',
        type: 'rate_limit_error',
        headers: expect.toSatisfy((headers: Headers) => headers.get('retry-after') === '7'),
      })
    })
    expect(charge).toBe(0n)
  })

  test.each(ways)('the result of a tool call, %s', async (_way, answer) => {
    const asked = { ...ask(prompt.tool), tools }
    const call = (await answer(asked)).choices[0]?.message
    const [{ id: tool_call_id } = { id: '' }] = call?.tool_calls ?? []
    const result = { role: 'tool' as const, tool_call_id, content: temperature }
    const system = { role: 'system' as const, content: 'Be brief.' }
    const completion = await answer({
      ...asked,
      messages: [system, ...asked.messages, call!, result],
    })
    expect(completion.choices[0]).toMatchObject({
      message: { content: text },
      finish_reason: 'stop',
    })
    // As the mock reads the vendor's own request back into a chat.
    const read = mock.getLastRequest()?.body as OpenAI.ChatCompletionCreateParams
    expect(read.messages).toMatchObject([
      system,
      { role: 'user', content: prompt.tool },
      { role: 'assistant', tool_calls: [{ function: { name: weather.name } }] },
      { role: 'tool', content: expect.stringContaining(temperature) },
    ])
    expect(read.tools).toMatchObject([{ type: 'function', function: { name: weather.name } }])
  })

  test('a stream that breaks off', async () => {
    let received = ''
    const charge = await chargeOf(async () => {
      const stream = await openai.chat.completions.create({ ...ask(prompt.broken), stream: true })
      const reading = (async () => {
        for await (const chunk of stream) received += chunk.choices[0]?.delta.content ?? ''
      })()
      await expect(reading).rejects.toMatchObject({ code: 'provider_error' })
    })
    expect(received).not.toBe('')
    expect(text.startsWith(received)).toBe(true)
    expect(charge).toBeGreaterThanOrEqual(priceOf(vendor, 0, countTokens(received)))
    expect(charge).toBeLessThanOrEqual(price)
  })
})

/** Where the mock differs from the vendor, and what the gateway makes of it. */
const differences: [vendor: string, difference: string, finishReason: string][] = [
  ['google', 'ends a tool call with FUNCTION_CALL, which Gemini never says', 'error'],
  ['vertex', 'ends a tool call with FUNCTION_CALL, which Gemini never says', 'error'],
]

test.each(differences)('%s: the mock %s', async (id, _difference, finishReason) => {
  const body = {
    model: `${id}/${vendors[id]?.model}`,
    messages: [{ role: 'user' as const, content: prompt.foreign }],
    tools,
  }
  for (const [, answer] of ways) {
    const [choice] = (await answer(body)).choices
    expect(choice?.finish_reason).toBe(finishReason)
    expect(choice?.message.tool_calls).toMatchObject([{ function: { name: weather.name } }])
  }
})

test.each(ways)('a model that takes tools on Responses only, %s', async (_way, answer) => {
  // As published: $2.50 and $15 a million.
  const price = 2_500n * BigInt(usage.input) + 15_000n * BigInt(usage.output)
  const charge = await chargeOf(async () => {
    const messages = [{ role: 'user' as const, content: prompt.tool }]
    const completion = await answer({ model: 'openai/gpt-5.4', messages, tools })
    const call = completion.choices[0]?.message.tool_calls?.[0]
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls')
    expect(call).toMatchObject({ id: 'call_mock_1', function: { name: weather.name } })
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual(
      JSON.parse(weather.arguments),
    )
  })
  expect(charge).toBe(price)
  expect(mock.getLastRequest()?.path).toBe('/v1/responses')
})

describe('ai with @ai-sdk/openai-compatible', () => {
  const vendor = vendors.bedrock!
  const chat = () =>
    createOpenAICompatible({
      name: 'tollgate',
      baseURL: `${at.url}/v1`,
      apiKey: at.key,
      includeUsage: true,
    })(`bedrock/${vendor.model}`)
  const aiTools: ToolSet = { [weather.name]: tool({ inputSchema: jsonSchema(parameters) }) }
  const told = { inputTokens: usage.input, outputTokens: usage.output }
  const call = { toolName: weather.name, input: JSON.parse(weather.arguments) }
  const price = priceOf(vendor, usage.input, usage.output)

  test('text, whole and streamed', async () => {
    const charge = await chargeOf(async () => {
      const whole = await generateText({ model: chat(), prompt: prompt.text })
      expect(whole).toMatchObject({ text, finishReason: 'stop', usage: told })
      const streamed = streamText({ model: chat(), prompt: prompt.text })
      let pieces = ''
      for await (const piece of streamed.textStream) pieces += piece
      expect(pieces).toBe(text)
      expect(await streamed.usage).toMatchObject(told)
    })
    expect(charge).toBe(2n * price)
  })

  test('a tool call, whole and streamed', async () => {
    const asked = { model: chat(), prompt: prompt.tool, tools: aiTools }
    const charge = await chargeOf(async () => {
      const whole = await generateText(asked)
      expect(whole.toolCalls).toMatchObject([call])
      expect(whole.finishReason).toBe('tool-calls')
      const streamed = streamText(asked)
      expect(await streamed.toolCalls).toMatchObject([call])
      expect(await streamed.finishReason).toBe('tool-calls')
    })
    expect(charge).toBe(2n * price)
  })
})
