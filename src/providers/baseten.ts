import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const baseten = {
  id: 'baseten',
  name: 'Baseten',
  baseUrl: 'https://inference.baseten.co/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'BASETEN_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'baseten' }],
  factsSource: { lists: ['baseten'], sellsExcept: /^$/ },
} satisfies Provider
