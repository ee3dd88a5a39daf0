import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { azure } from '../../src/providers/azure.ts'
import { readEvents, readJson, startTestGateway, type TestGateway } from '../harness.ts'

type Received = { path: string | undefined; apiKey: unknown; body: Record<string, unknown> }

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const call = { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' }
const response = { object: 'response', status: 'completed', output: [call], usage }
const completion = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
}

const received: Received[] = []
let vendor: Server
let gateway: TestGateway

beforeAll(async () => {
  vendor = createServer(async (request, reply) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = JSON.parse(Buffer.concat(parts).toString())
    received.push({ path: request.url, apiKey: request.headers['api-key'], body })
    const answer = request.url?.includes('/responses') ? response : completion
    const whole = JSON.stringify(answer)
    const stream = `data: ${JSON.stringify({ type: 'response.completed', response: answer })}\n\n`
    reply.end(body.stream ? stream : whole)
  })
  await new Promise<void>(resolve => vendor.listen(0, '127.0.0.1', resolve))
})
afterAll(() => vendor.close())

const start = async (path: string): Promise<void> => {
  const { port } = vendor.address() as AddressInfo
  const url = `http://127.0.0.1:${port}${path}`
  gateway = await startTestGateway({ env: { AZURE_API_KEY: 'azure-canary', AZURE_BASE_URL: url } })
}
beforeEach(() => received.splice(0))
afterEach(() => gateway.close())

const messages = [{ role: 'user', content: 'q' }]
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }]

describe('Azure OpenAI', () => {
  test('has the deployment in the body, under /openai/v1', async () => {
    await start('/openai/v1')
    const answer = await gateway.chat({ model: 'azure/gpt-4.1', messages })
    expect(answer.status).toBe(200)
    expect(received).toMatchObject([
      { path: '/openai/v1/chat/completions', apiKey: 'azure-canary', body: { model: 'gpt-4.1' } },
    ])
  })

  test.each(['/openai/deployments', '/openai/deployments/another'])(
    'has the deployment in the path, under %s',
    async path => {
      await start(`${path}?api-version=2025-04-01-preview`)
      await gateway.chat({ model: 'azure/gpt-4.1', messages })
      await gateway.chat({ model: 'azure/gpt-5.4', messages, tools })
      expect(received.map(one => one.path)).toEqual([
        '/openai/deployments/gpt-4.1/chat/completions?api-version=2025-04-01-preview',
        '/openai/responses?api-version=2025-04-01-preview',
      ])
    },
  )

  test('knows a model by the name it is sold by, whatever its deployment is called', () => {
    const chat = { model: 'azure/gpt-5.6', messages: [{ role: 'user' as const, content: 'q' }] }
    expect(azure.dialectFor('prod', { ...chat, tools }).id).toBe('openai-responses')
    expect(azure.dialectFor('prod', chat).id).toBe('chat-completions')
  })

  test('speaks Responses for what chat-completions refuses, whole and streamed', async () => {
    await start('/openai/v1')
    const before = gateway.balance()
    const whole = await readJson(await gateway.chat({ model: 'azure/gpt-5.4', messages, tools }))
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 'call_1', function: { name: 'weather' } }] },
    })
    const stream = await gateway.chat({ model: 'azure/gpt-5.4', messages, tools, stream: true })
    const events = readEvents(await stream.text())
    expect(events.at(-1)).toBe('[DONE]')
    expect(JSON.stringify(events)).toContain('"finish_reason":"tool_calls"')
    expect(received.map(one => one.path)).toEqual(['/openai/v1/responses', '/openai/v1/responses'])
    // $2.50 and $15 a million, twice.
    expect(before - gateway.balance()).toBe(2n * (10n * 2_500n + 5n * 15_000n))
    await gateway.chat({ model: 'azure/gpt-5.4', messages })
    expect(received.at(-1)?.path).toBe('/openai/v1/chat/completions')
  })
})
