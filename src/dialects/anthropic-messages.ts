/**
 * Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages (2026-11). Tools that Anthropic runs
 * itself are not offered: the gateway sells none of them.
 */
import { parseResponse } from './anthropic-messages-answer.ts'
import { renderRequest } from './anthropic-messages-request.ts'
import { AnthropicMessagesStream } from './anthropic-messages-stream.ts'
import type { Dialect } from './dialect.ts'
import { httpFailure } from './failure.ts'

export const anthropicMessages: Dialect = {
  id: 'anthropic-messages',
  renderRequest,
  parseResponse,
  readStream: () => new AnthropicMessagesStream(),
  parseError: httpFailure,
}
