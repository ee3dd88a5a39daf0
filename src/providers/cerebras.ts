import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const cerebras = {
  id: 'cerebras',
  name: 'Cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'CEREBRAS_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'cerebras' }],
} satisfies Provider
