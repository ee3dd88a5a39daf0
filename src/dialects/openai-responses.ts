/**
 * OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses (2026-11). Spoken to models that
 * refuse on chat-completions what was asked. Nothing is kept there between requests, and tools that OpenAI runs itself
 * are not offered: the gateway sells none of them.
 */
import type { Dialect } from './dialect.ts'
import { httpFailure } from './failure.ts'
import { parseResponse } from './openai-responses-answer.ts'
import { renderRequest } from './openai-responses-request.ts'
import { OpenAiResponsesStream } from './openai-responses-stream.ts'

export const openAiResponses: Dialect = {
  id: 'openai-responses',
  renderRequest,
  parseResponse,
  readStream: () => new OpenAiResponsesStream(),
  parseError: httpFailure,
}
