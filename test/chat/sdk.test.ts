/** Official SDKs as they come from npm, as clients of the gateway: what they read, and what it costs. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { AIMessageChunk } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, streamText, type ToolSet, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway, testModel } from '../harness.ts'
import { type ScriptInput, script } from '../upstream/scripted-upstream.ts'
import { words } from '../upstream/vocabulary.ts'

let at: TestGateway
let openai: OpenAI
beforeAll(async () => {
  // Enough for all of them, and too little for the one that is to be refused.
  at = await startTestGateway({ credit: '1' })
  openai = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key, timeout: 10_000 })
})
afterAll(() => at.close())

const model = testModel.id
const ask = (wanted: ScriptInput) => ({
  model,
  messages: [{ role: 'user' as const, content: script(wanted) }],
})

const [input, output] = [23, 6]
const answer: ScriptInput = { chunks: output, promptTokens: input }
const price = BigInt(input) * testModel.inputNanoUsd + BigInt(output) * testModel.outputNanoUsd
const weather = { name: 'get_weather', arguments: '{"city":"Berlin","unit":"celsius"}' }
const callWeather: ScriptInput = { ...answer, toolCall: weather }

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string' } },
} as const
const tools = [{ type: 'function' as const, function: { name: weather.name, parameters } }]

/** What `call` took from the balance. */
const chargeOf = async (call: () => Promise<void>): Promise<bigint> => {
  const before = at.balance()
  await call()
  await expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
  return before - at.balance()
}

describe('openai', () => {
  test('create', async () => {
    const charge = await chargeOf(async () => {
      const completion = await openai.chat.completions.create(ask(answer))
      expect(completion.choices[0]?.message).toMatchObject({ content: words(0, output) })
      expect(completion.usage).toMatchObject({ prompt_tokens: input, completion_tokens: output })
      expect(completion.model).toBe(model)
    })
    expect(charge).toBe(price)
  })

  test('create, streamed', async () => {
    const charge = await chargeOf(async () => {
      const stream = await openai.chat.completions.create({ ...ask(answer), stream: true })
      let text = ''
      let usage: OpenAI.CompletionUsage | null | undefined
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? ''
        usage = chunk.usage ?? usage
      }
      expect(text).toBe(words(0, output))
      expect(usage).toMatchObject({ total_tokens: input + output, cost: Number(price) / 1e9 })
    })
    expect(charge).toBe(price)
  })

  test('stream().finalChatCompletion()', async () => {
    const charge = await chargeOf(async () => {
      const completion = await openai.chat.completions.stream(ask(answer)).finalChatCompletion()
      expect(completion.choices[0]).toMatchObject({
        finish_reason: 'stop',
        message: { role: 'assistant', content: words(0, output), refusal: null },
      })
      expect(completion.usage).toMatchObject({ completion_tokens: output })
    })
    expect(charge).toBe(price)
  })

  test('a tool call, whole and streamed', async () => {
    const wanted = [{ id: 'call_1', type: 'function', function: weather }]
    const charge = await chargeOf(async () => {
      const whole = await openai.chat.completions.create({ ...ask(callWeather), tools })
      const streamed = await openai.chat.completions
        .stream({ ...ask(callWeather), tools })
        .finalChatCompletion()
      for (const { choices } of [whole, streamed]) {
        expect(choices[0]?.finish_reason).toBe('tool_calls')
        expect(choices[0]?.message.tool_calls).toMatchObject(wanted)
      }
    })
    expect(charge).toBe(2n * price)
  })

  test('leaving by AbortController closes the upstream', async () => {
    const leave = new AbortController()
    const stream = await openai.chat.completions.create(
      { ...ask({ id: 'sdk-leaver', chunks: 500, gapMs: 10 }), stream: true },
      { signal: leave.signal },
    )
    let chunks = 0
    for await (const _chunk of stream) if (++chunks === 5) leave.abort()
    await expect.poll(() => at.upstream.request('sdk-leaver').peerClosedAt).not.toBeNull()
    expect(chunks).toBeLessThan(20)
    await expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
  })

  const failure = async (
    promise: Promise<unknown>,
  ): Promise<InstanceType<typeof OpenAI.APIError>> => {
    const thrown = await promise.then(
      () => null,
      (error: unknown) => error,
    )
    expect(thrown).toBeInstanceOf(OpenAI.APIError)
    return thrown as InstanceType<typeof OpenAI.APIError> // just checked
  }

  /** A client that tells how many requests it made. */
  const counting = (maxRetries: number) => {
    let requests = 0
    const counted: typeof fetch = (...args) => {
      requests++
      return fetch(...args)
    }
    return { client: openai.withOptions({ maxRetries, fetch: counted }), requests: () => requests }
  }

  const errors: [
    name: string,
    body: () => OpenAI.ChatCompletionCreateParams,
    kind: unknown,
    wanted: object,
  ][] = [
    [
      'a wrong field',
      () => ({ ...ask({}), max_tokens: -1 }),
      OpenAI.BadRequestError,
      { status: 400, code: 'invalid_request', param: 'max_tokens', type: 'invalid_request_error' },
    ],
    [
      'an unknown model',
      () => ({ ...ask({}), model: 'openai/gpt-4o-minni' }),
      OpenAI.NotFoundError,
      { status: 404, code: 'model_not_found', param: 'model' },
    ],
    [
      'too little credit',
      () => ({ ...ask({}), n: 128, max_tokens: 10_000_000 }),
      OpenAI.APIError,
      { status: 402, code: 'insufficient_credits', type: 'billing_error' },
    ],
  ]
  test.each(errors)(
    '%s is its own error class, and not tried again',
    async (_name, body, kind, wanted) => {
      const patient = counting(3)
      const error = await failure(patient.client.chat.completions.create(body()))
      expect(error).toBeInstanceOf(kind)
      expect(error).toMatchObject(wanted)
      expect(patient.requests()).toBe(1)
    },
  )

  test('a wrong key is an AuthenticationError', async () => {
    const stranger = openai.withOptions({ apiKey: 'tg_wrong' })
    const error = await failure(stranger.chat.completions.create(ask({})))
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
    expect(error.code).toBe('invalid_api_key')
  })

  test.each([
    ['what retries can not mend is tried once', 401, 1],
    ['what they may mend is tried again', 503, 3],
  ])('%s', async (name, status, attempts) => {
    const patient = counting(2)
    await failure(patient.client.chat.completions.create(ask({ status })))
    expect(patient.requests(), name).toBe(attempts)
  })

  test('a stream that breaks throws what broke it', async () => {
    const stream = await openai.chat.completions.create({
      ...ask({ chunks: 9, dieAfter: 4, gapMs: 5 }),
      stream: true,
    })
    const error = await failure(
      (async () => {
        for await (const _chunk of stream);
      })(),
    )
    expect(error).toMatchObject({ code: 'provider_error', type: 'upstream_error' })
  })
})

describe('ai with @ai-sdk/openai-compatible', () => {
  const chat = () =>
    createOpenAICompatible({
      name: 'tollgate',
      baseURL: `${at.url}/v1`,
      apiKey: at.key,
      includeUsage: true,
    })(model)
  const aiTools: ToolSet = { [weather.name]: tool({ inputSchema: jsonSchema(parameters) }) }
  const usage = { inputTokens: input, outputTokens: output, totalTokens: input + output }

  test('generateText', async () => {
    const charge = await chargeOf(async () => {
      const result = await generateText({ model: chat(), prompt: script(answer) })
      expect(result.text).toBe(words(0, output))
      expect(result.finishReason).toBe('stop')
      expect(result.usage).toMatchObject(usage)
    })
    expect(charge).toBe(price)
  })

  test('streamText', async () => {
    const charge = await chargeOf(async () => {
      const result = streamText({ model: chat(), prompt: script(answer) })
      let text = ''
      for await (const piece of result.textStream) text += piece
      expect(text).toBe(words(0, output))
      expect(await result.usage).toMatchObject(usage)
    })
    expect(charge).toBe(price)
  })

  test('a tool call, whole and streamed', async () => {
    const call = {
      toolCallId: 'call_1',
      toolName: weather.name,
      input: JSON.parse(weather.arguments),
    }
    const charge = await chargeOf(async () => {
      const asked = { model: chat(), prompt: script(callWeather), tools: aiTools }
      const whole = await generateText(asked)
      expect(whole.toolCalls).toMatchObject([call])
      expect(whole.finishReason).toBe('tool-calls')
      const streamed = streamText(asked)
      expect(await streamed.toolCalls).toMatchObject([call])
      expect(await streamed.usage).toMatchObject(usage)
    })
    expect(charge).toBe(2n * price)
  })

  test('a refusal is an APICallError with our words', async () => {
    const asked = { model: chat(), prompt: script({ status: 401 }), maxRetries: 0 }
    await expect(generateText(asked)).rejects.toMatchObject({
      statusCode: 502,
      message: expect.stringContaining("refused this gateway's credential"),
    })
  })
})

describe('@langchain/openai', () => {
  const chat = (fields: object = {}) =>
    new ChatOpenAI({
      model,
      apiKey: at.key,
      maxRetries: 0,
      configuration: { baseURL: `${at.url}/v1` },
      ...fields,
    })
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }

  test('invoke', async () => {
    const charge = await chargeOf(async () => {
      const message = await chat().invoke(script(answer))
      expect(message.content).toBe(words(0, output))
      expect(message.usage_metadata).toMatchObject(usage)
    })
    expect(charge).toBe(price)
  })

  test('stream', async () => {
    const charge = await chargeOf(async () => {
      let text = ''
      let told: unknown
      for await (const chunk of await chat().stream(script(answer))) {
        text += chunk.content
        told = chunk.usage_metadata ?? told
      }
      expect(text).toBe(words(0, output))
      expect(told).toMatchObject(usage)
    })
    expect(charge).toBe(price)
  })

  test('a tool call, whole and streamed', async () => {
    const call = { id: 'call_1', name: weather.name, args: JSON.parse(weather.arguments) }
    const charge = await chargeOf(async () => {
      const bound = chat().bindTools(tools)
      const whole = await bound.invoke(script(callWeather))
      // By hand: `streaming: true` would fetch a tokeniser from the network for an estimate of its own.
      let streamed: AIMessageChunk | undefined
      for await (const chunk of await bound.stream(script(callWeather)))
        streamed = streamed?.concat(chunk) ?? chunk
      for (const message of [whole, streamed!]) {
        expect(message.tool_calls).toMatchObject([call])
        expect(message.usage_metadata).toMatchObject(usage)
      }
    })
    expect(charge).toBe(2n * price)
  })

  test('a refusal tells its code', async () => {
    const stranger = chat({ apiKey: 'tg_wrong' })
    await expect(stranger.invoke('hello')).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
  })
})
