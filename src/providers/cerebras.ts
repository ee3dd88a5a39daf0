import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const cerebras = {
  id: 'cerebras',
  name: 'Cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_completion_tokens' }),
  apiKeyEnv: 'CEREBRAS_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'cerebras' }],
  factsSource: { lists: ['cerebras'], sellsExcept: /^$/ },
} satisfies Provider
