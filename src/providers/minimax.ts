import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const minimax = {
  id: 'minimax',
  name: 'MiniMax',
  baseUrl: 'https://api.minimax.io/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'MINIMAX_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'minimax' }],
  factsSource: { lists: ['minimax'], sellsExcept: /^$/ },
} satisfies Provider
