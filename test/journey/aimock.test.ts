/**
 * The vendors' wires as a third party reads them, `@copilotkit/aimock`, running as every upstream of a whole gateway,
 * with official SDKs as clients: what they read, and what it costs.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { LLMock } from '@copilotkit/aimock'
import { generateText, jsonSchema, streamText, type ToolSet, tool } from 'ai'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../harness.ts'

type Vendor = {
  model: string
  /** Of the mock, given its address. */
  baseUrl: (url: string) => string
  apiKey?: string
  /** nano-USD a token, as published; the last by the operator's file. */
  rate: { input: bigint; output: bigint }
  /** The vendor's own words for how an answer ends. */
  native: { text: string; tool: string }
  /** Who counts where the fixture sets no usage: the mock reports a guess of its own, or zeros. */
  guessesUsage?: true
}

const location = 'v1/projects/p/locations/us-central1/publishers/google'
const openAi = {
  rate: { input: 150n, output: 600n },
  native: { text: 'stop', tool: 'tool_calls' },
  guessesUsage: true,
} as const
const gemini = {
  rate: { input: 300n, output: 2_500n },
  native: { text: 'STOP', tool: 'STOP' },
} as const

const vendors: Record<string, Vendor> = {
  openai: { ...openAi, model: 'gpt-4o-mini', baseUrl: url => `${url}/v1` },
  azure: {
    ...openAi,
    model: 'gpt-4o-mini',
    baseUrl: url => `${url}/openai/deployments?api-version=2024-10-21`,
  },
  anthropic: {
    model: 'claude-sonnet-4-5',
    baseUrl: url => url,
    rate: { input: 3_000n, output: 15_000n },
    native: { text: 'end_turn', tool: 'tool_use' },
  },
  google: { ...gemini, model: 'gemini-2.5-flash', baseUrl: url => `${url}/v1beta` },
  vertex: {
    ...gemini,
    model: 'gemini-2.5-flash',
    baseUrl: url => `${url}/${location}`,
    apiKey: 'ya29.upstream-canary',
  },
  bedrock: {
    model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    baseUrl: url => url,
    apiKey: 'AKIACANARY:secret-canary',
    rate: { input: 1_100n, output: 5_500n },
    native: { text: 'end_turn', tool: 'tool_use' },
  },
  cohere: {
    model: 'command-r-08-2024',
    baseUrl: url => url,
    rate: { input: 150n, output: 600n },
    native: { text: 'COMPLETE', tool: 'TOOL_CALL' },
  },
  ollama: {
    ...openAi,
    model: 'llama3.2:1b',
    baseUrl: url => `${url}/v1`,
    rate: { input: 20n, output: 70n },
  },
}
const ollamaModel = {
  id: vendors.ollama?.model,
  context_window: 131_072,
  price: { input: '0.02', output: '0.07' },
}

const text = 'A toll of one crown is paid at the gate, once and in advance.'
const weather = { name: 'get_weather', arguments: '{"city":"Bern","unit":"celsius"}' }
const usage = { input: 41, output: 17 }
const reported = {
  usage: {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    input_tokens: usage.input,
    output_tokens: usage.output,
  },
}
const prompt = {
  text: 'Say it in a sentence.',
  tool: 'What is the weather in Bern?',
  uncounted: 'Say it, and keep no count.',
  limited: 'Ask too often.',
}

let mock: LLMock
let at: TestGateway
let openai: OpenAI
let folder: string

beforeAll(async () => {
  mock = new LLMock({ port: 0, chunkSize: 5 })
  mock.onMessage(prompt.text, { content: text, ...reported })
  mock.on(
    { userMessage: prompt.tool, model: /^gemini/ },
    { toolCalls: [weather], finishReason: 'stop', ...reported },
  )
  mock.onMessage(prompt.tool, { toolCalls: [{ ...weather, id: 'call_mock_1' }], ...reported })
  mock.onMessage(prompt.uncounted, { content: text })
  mock.onMessage(prompt.limited, {
    error: { message: 'Too many requests', type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    status: 429,
    retryAfter: 7,
  })
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

  test.each(ways)('text, %s', async (_way, answer) => {
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
      })
    })
    expect(charge).toBe(0n)
  })
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
