/** Amazon's one format for all models that it hosts: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html */
import { parseResponse } from './bedrock-converse-answer.ts'
import { renderRequest } from './bedrock-converse-request.ts'
import { BedrockConverseStream } from './bedrock-converse-stream.ts'
import type { Dialect } from './dialect.ts'
import { httpFailure } from './failure.ts'

export const bedrockConverse: Dialect = {
  id: 'bedrock-converse',
  inlinesMedia: true,
  renderRequest,
  parseResponse,
  readStream: () => new BedrockConverseStream(),
  parseError: httpFailure,
}
