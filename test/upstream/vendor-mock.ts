/**
 * A third party's reading of the vendors' wires, `@copilotkit/aimock`, with what it is to answer. Where it is known to
 * differ from the vendor:
 * - Gemini ends a tool call with FUNCTION_CALL; the real API says STOP. The fixture says STOP, and `foreign` leaves it.
 * - Where a fixture sets no usage, it reports zeros; only as OpenAI it guesses. No vendor does that.
 * - Anthropic's first event already reports all the output; the vendor counts on.
 * - Bedrock's errors have Anthropic's shape, Cohere's have OpenAI's. Only status and `Retry-After` are the vendor's.
 * - It checks no request and no credential; what it read of one, it tells.
 */
import { LLMock } from '@copilotkit/aimock'

export type Vendor = {
  model: string
  /** Of the mock, given its address. */
  baseUrl: (url: string) => string
  apiKey?: string
  /** nano-USD a token, as published; the last by the operator's file. */
  rate: { input: bigint; output: bigint }
  /** Where the mock is to be asked: whole, streamed. */
  paths: readonly [string, string]
  /** The vendor's own words for how an answer ends, and for a limit that was hit. */
  native: { text: string; tool: string; limited: string }
  /** Where a fixture sets no usage, the mock reports a guess of its own; for other vendors, zeros. */
  guessesUsage?: true
}

const location = 'v1/projects/p/locations/us-central1/publishers/google'
const openAi = {
  rate: { input: 150n, output: 600n },
  paths: ['/v1/chat/completions', '/v1/chat/completions'],
  native: { text: 'stop', tool: 'tool_calls', limited: 'rate_limit_error' },
  guessesUsage: true,
} as const
const gemini = {
  rate: { input: 300n, output: 2_500n },
  native: { text: 'STOP', tool: 'STOP', limited: 'RESOURCE_EXHAUSTED' },
} as const

const azurePath = '/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21'
const haiku = 'us.anthropic.claude-haiku-4-5-20251001-v1%3A0'
const geminiPaths = (base: string): [string, string] => {
  const model = `/${base}/models/gemini-2.5-flash`
  return [`${model}:generateContent`, `${model}:streamGenerateContent?alt=sse`]
}

export const vendors: Record<string, Vendor> = {
  openai: { ...openAi, model: 'gpt-4o-mini', baseUrl: url => `${url}/v1` },
  azure: {
    ...openAi,
    model: 'gpt-4o-mini',
    baseUrl: url => `${url}/openai/deployments?api-version=2024-10-21`,
    paths: [azurePath, azurePath],
  },
  anthropic: {
    model: 'claude-sonnet-4-5',
    baseUrl: url => url,
    rate: { input: 3_000n, output: 15_000n },
    paths: ['/v1/messages', '/v1/messages'],
    native: { text: 'end_turn', tool: 'tool_use', limited: 'rate_limit_error' },
  },
  google: {
    ...gemini,
    model: 'gemini-2.5-flash',
    baseUrl: url => `${url}/v1beta`,
    paths: geminiPaths('v1beta'),
  },
  vertex: {
    ...gemini,
    model: 'gemini-2.5-flash',
    baseUrl: url => `${url}/${location}`,
    paths: geminiPaths(location),
    apiKey: 'ya29.upstream-canary',
  },
  bedrock: {
    model: decodeURIComponent(haiku),
    baseUrl: url => url,
    apiKey: 'AKIACANARY:secret-canary',
    rate: { input: 1_100n, output: 5_500n },
    paths: [`/model/${haiku}/converse`, `/model/${haiku}/converse-stream`],
    native: { text: 'end_turn', tool: 'tool_use', limited: 'ThrottlingException' },
  },
  cohere: {
    model: 'command-r-08-2024',
    baseUrl: url => url,
    rate: { input: 150n, output: 600n },
    paths: ['/v2/chat', '/v2/chat'],
    native: { text: 'COMPLETE', tool: 'TOOL_CALL', limited: 'too_many_requests' },
  },
  ollama: {
    ...openAi,
    model: 'llama3.2:1b',
    baseUrl: url => `${url}/v1`,
    rate: { input: 20n, output: 70n },
  },
}
export const ollamaModel = {
  id: vendors.ollama?.model,
  context_window: 131_072,
  price: { input: '0.02', output: '0.07' },
}

export const text = 'A toll of one crown is paid at the gate, once and in advance.'
export const weather = { name: 'get_weather', arguments: '{"city":"Bern","unit":"celsius"}' }
export const temperature = '21 degrees'
export const usage = { input: 41, output: 17 }
const reported = {
  usage: {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    input_tokens: usage.input,
    output_tokens: usage.output,
  },
}
export const prompt = {
  text: 'Say it in a sentence.',
  tool: 'What is the weather in Bern?',
  uncounted: 'Say it, and keep no count.',
  limited: 'Ask too often.',
  broken: 'Break off.',
  foreign: 'What is the weather, in your own words?',
}

/** Not started; the caller stops it. */
export const createVendorMock = (): LLMock => {
  const mock = new LLMock({ port: 0, chunkSize: 5 })
  mock.onMessage(prompt.text, { content: text, ...reported })
  const toolCalls = [{ ...weather, id: 'call_mock_1' }]
  mock.on(
    { userMessage: prompt.tool, toolResultContains: temperature },
    { content: text, ...reported },
  )
  mock.on(
    { userMessage: prompt.tool, model: /^gemini/, hasToolResult: false },
    { toolCalls, finishReason: 'stop', ...reported },
  )
  mock.on({ userMessage: prompt.tool, hasToolResult: false }, { toolCalls, ...reported })
  mock.onMessage(prompt.foreign, { toolCalls, ...reported })
  mock.onMessage(prompt.uncounted, { content: text })
  mock.onMessage(
    prompt.broken,
    { content: text, ...reported },
    { truncateAfterChunks: 6, latency: 10 },
  )
  for (const { model, native } of Object.values(vendors)) {
    const error = { message: 'Too many requests', type: native.limited }
    // The mock doesn't decode a colon in a path.
    const start = new RegExp(`^${model.split(':')[0]}`)
    mock.on({ userMessage: prompt.limited, model: start }, { error, status: 429, retryAfter: 7 })
  }
  return mock
}
