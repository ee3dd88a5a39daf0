/**
 * The dialect that most providers speak, in their accents: OpenAI's chat completions, which is the hub's own shape, so
 * that rendering is close to the identity and parsing is a clean-up. Not a list of providers: a provider's manners
 * are quirks, named in its own file.
 */
import { parseAnswer } from './chat-completions-answer.ts'
import type { Quirks } from './chat-completions-quirks.ts'
import { makeRequestRenderer } from './chat-completions-request.ts'
import { ChatCompletionsStream } from './chat-completions-stream.ts'
import { isFields } from './chat-completions-usage.ts'
import type { Dialect } from './dialect.ts'
import { httpFailure, inBandFailure, invalidResponse } from './failure.ts'

export type { Quirks } from './chat-completions-quirks.ts'

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw invalidResponse('the answer is not JSON')
  }
}

/** The dialect as a provider speaks it. Made once, at start. */
export const chatCompletionsWith = (quirks: Quirks): Dialect => ({
  id: 'chat-completions',

  renderRequest: makeRequestRenderer(quirks),

  parseResponse(body) {
    const answer = parseJson(body)
    if (!isFields(answer)) throw invalidResponse('the answer is not an object')
    if (answer.error || answer.object === 'error') throw inBandFailure(answer)
    return parseAnswer(answer, quirks.feePerRequest === true)
  },

  readStream: () => new ChatCompletionsStream(quirks),

  parseError: httpFailure,
})

/** Without quirks: what OpenAI's documentation describes, and what an unknown compatible server is assumed to speak. */
export const chatCompletions: Dialect = chatCompletionsWith({})
