/** Streams as OpenAI, Anthropic and Google send them, built beforehand: 100 pieces of text and the same usage in each. */
import { chunksPerStream, streamUsage, type Wire } from './workload.ts'

export type MockStream = {
  /** Head of the response, and what comes before the first piece of text. */
  start: Buffer
  /** One piece of text each. */
  pieces: readonly Buffer[]
  end: Buffer
}

const head =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const httpEnd = '0\r\n\r\n'

const frame = (event: string): string => `${event.length.toString(16)}\r\n${event}\r\n`

const pieces = (write: (text: string, index: number) => string): Buffer[] =>
  Array.from({ length: chunksPerStream }, (_, index) =>
    Buffer.from(write(index === 0 ? 'the' : ' bridge', index)),
  )

/** What each object of OpenAI starts with. */
export const stamp = (object: string) => ({
  id: 'chatcmpl-BenchBenchBenchBenchBench',
  object,
  created: 1_700_000_000,
  model: 'gpt-4o-mini-2024-07-18',
  service_tier: 'default',
  system_fingerprint: 'fp_0123456789',
})

const chatCompletions = (): MockStream => {
  const data = (text: string): string => frame(`data: ${text}\n\n`)
  const chunk = (choices: object[], more: object = {}): string =>
    data(JSON.stringify({ ...stamp('chat.completion.chunk'), choices, ...more }))
  const choice = (delta: object, finish_reason: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason },
  ]
  const end = [chunk(choice({}, 'stop')), chunk([], { usage: streamUsage }), data('[DONE]')]
  return {
    start: Buffer.from(head),
    pieces: pieces((content, index) =>
      chunk(choice(index === 0 ? { role: 'assistant', content } : { content })),
    ),
    end: Buffer.from(end.join('') + httpEnd),
  }
}

const anthropicMessages = (): MockStream => {
  const event = (type: string, fields: object): string =>
    frame(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  const input = {
    input_tokens: streamUsage.prompt_tokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
  const message = {
    model: 'claude-haiku-4-5-20251001',
    id: 'msg_BenchBenchBenchBenchBench',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...input, output_tokens: 1, service_tier: 'standard' },
  }
  const start = [
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ]
  const end = [
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...input, output_tokens: streamUsage.completion_tokens },
    }),
    event('message_stop', {}),
  ]
  return {
    start: Buffer.from(head + start.join('')),
    pieces: pieces(text =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    end: Buffer.from(end.join('') + httpEnd),
  }
}

const gemini = (): MockStream => {
  /** Google writes a space after each colon; each event tells the usage so far. */
  const event = (text: string, tokens: number, ending: object = {}): string => {
    const prompt = streamUsage.prompt_tokens
    const usageMetadata = {
      promptTokenCount: prompt,
      candidatesTokenCount: tokens,
      totalTokenCount: prompt + tokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    }
    const answer = {
      candidates: [{ content: { parts: [{ text }], role: 'model' }, ...ending, index: 0 }],
      usageMetadata,
      modelVersion: 'gemini-2.5-flash',
      responseId: 'BenchBenchBenchBenchBe',
    }
    return frame(`data: ${JSON.stringify(answer).replaceAll('":', '": ')}\r\n\r\n`)
  }
  const end = event('', streamUsage.completion_tokens, { finishReason: 'STOP' })
  return {
    start: Buffer.from(head),
    pieces: pieces((text, index) => event(text, index + 1)),
    end: Buffer.from(end + httpEnd),
  }
}

export const mockStreams: Readonly<Record<Wire, MockStream>> = {
  'chat-completions': chatCompletions(),
  'anthropic-messages': anthropicMessages(),
  gemini: gemini(),
}
