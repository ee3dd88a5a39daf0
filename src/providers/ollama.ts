import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

/** A server of one's own. Its models and their prices come from the operator's file. */
export const ollama = {
  id: 'ollama',
  name: 'Ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  needsBaseUrl: true,
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: null,
  authorize: bearer,
} satisfies Provider
