/** Cohere's chat, version 2: https://docs.cohere.com/reference/chat (2026-11). */
import { parseResponse } from './cohere-chat-answer.ts'
import { renderRequest } from './cohere-chat-request.ts'
import { CohereChatStream } from './cohere-chat-stream.ts'
import type { Dialect } from './dialect.ts'
import { httpFailure } from './failure.ts'

export const cohereChat: Dialect = {
  id: 'cohere-chat',
  renderRequest,
  parseResponse,
  readStream: () => new CohereChatStream(),
  parseError: httpFailure,
}
