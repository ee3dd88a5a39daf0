import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { needsResponses } from '../dialects/openai-models.ts'
import { openAiResponses } from '../dialects/openai-responses.ts'
import { bearer, type Provider } from './provider.ts'

const dialect = chatCompletionsWith({
  outputCap: 'max_completion_tokens',
  // What answers of the other dialect leave in a conversation.
  dropsFromMessages: ['reasoning', 'reasoning_content', 'reasoning_details', 'phase'],
})

/**
 * What works only with tools that OpenAI runs itself (research, computer use, search) or over the realtime socket,
 * fine-tuned names, open weights that OpenAI doesn't host, and what is retired.
 * https://platform.openai.com/docs/models (2026-11)
 */
export const notForChat =
  /deep-research|computer-use|search|^ft:|\.ft-|:|gpt-oss|instruct|^codex-mini|^gpt-5[.-]1-mini/

export const openai = {
  id: 'openai',
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  dialect,
  dialectFor: (model, chat) => (needsResponses(model, chat) ? openAiResponses : dialect),
  apiKeyEnv: 'OPENAI_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'openai', except: notForChat }],
  factsSource: { lists: ['openai'], knowsAll: true },
} satisfies Provider
