/** Two models that answer in this process, without network or credential: for a first try and for tests. */
import { setTimeout as sleep } from 'node:timers/promises'
import { chatCompletions } from '../dialects/chat-completions.ts'
import { anonymous, type PricedModel, type Provider } from './provider.ts'

const maxOutputTokens = 4096
const pauseMs = 5

const model = (name: string, title: string, description: string): PricedModel => ({
  name,
  title,
  upstreamModel: name,
  contextWindow: 1_000_000,
  maxOutputTokens,
  reasons: false,
  description,
  price: { input: '1.00', output: '4.00', cacheRead: '0.10' },
})

type Asked = {
  model: string
  messages: { content?: unknown }[]
  stream?: boolean
  n?: number
  max_tokens?: number
  max_completion_tokens?: number
}

/** The text of a message, whichever way it is written. */
const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : ''))
    .join(' ')
}

/** What the demo takes for tokens: up to six letters, with the blanks before them. */
const tokensOf = (text: string): string[] => text.match(/\s*\S{1,6}|\s+$/g) ?? []

const answerTo = ({ model, messages }: Asked): string => {
  const last = textOf(messages.at(-1)?.content)
  if (model === 'echo') return last
  const heard = last.length > 80 ? `${last.slice(0, 80)}…` : last
  return (
    `Hello from Tollgate's built-in demo: no provider was called, but this answer was metered and charged ` +
    `like any other. You said: "${heard}". Set a provider's API key, such as OPENAI_API_KEY, and ask a real model.`
  )
}

const answer = (asked: Asked) => {
  const all = tokensOf(answerTo(asked))
  const most = Math.min(
    asked.max_completion_tokens ?? asked.max_tokens ?? maxOutputTokens,
    maxOutputTokens,
  )
  const tokens = all.slice(0, most)
  const n = asked.n ?? 1
  // Like the templates of real models: a few tokens around each message.
  const prompt = asked.messages.reduce(
    (sum, { content }) => sum + 4 + tokensOf(textOf(content)).length,
    3,
  )
  const completion = tokens.length * n
  return {
    tokens,
    choices: Array.from({ length: n }, (_, index) => index),
    finish: all.length > most ? 'length' : 'stop',
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    },
  }
}

const whole = (asked: Asked): string => {
  const { tokens, choices, finish, usage } = answer(asked)
  const message = { role: 'assistant', content: tokens.join('') }
  return JSON.stringify({
    id: 'demo',
    object: 'chat.completion',
    created: 0,
    model: asked.model,
    choices: choices.map(index => ({ index, message, finish_reason: finish })),
    usage,
  })
}

async function* streamed(asked: Asked, signal: AbortSignal): AsyncGenerator<string> {
  const { tokens, choices, finish, usage } = answer(asked)
  const head = { id: 'demo', object: 'chat.completion.chunk', created: 0, model: asked.model }
  const event = (delta: object, finish_reason: string | null) =>
    choices
      .map(
        index =>
          `data: ${JSON.stringify({ ...head, choices: [{ index, delta, finish_reason }] })}\n\n`,
      )
      .join('')
  yield event({ role: 'assistant', content: '' }, null)
  for (const content of tokens) {
    await sleep(pauseMs, undefined, { signal })
    yield event({ content }, null)
  }
  yield event({}, finish)
  yield `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`
}

async function* once(bytes: string): AsyncGenerator<string> {
  yield bytes
}

export const demo = {
  id: 'demo',
  name: 'Tollgate demo',
  baseUrl: 'http://demo.invalid',
  dialect: chatCompletions,
  apiKeyEnv: null,
  authorize: anonymous,
  ownModels: [
    model(
      'tollgate',
      'Tollgate demo',
      'Says hello and what it was asked, in this process. For a first try.',
    ),
    model('echo', 'Tollgate echo', 'Repeats the last message, in this process. For tests.'),
  ],
  answerInProcess: (body, signal) => {
    const asked: Asked = JSON.parse(body)
    return asked.stream
      ? { contentType: 'text/event-stream', chunks: streamed(asked, signal) }
      : { contentType: 'application/json', chunks: once(whole(asked)) }
  },
} satisfies Provider
