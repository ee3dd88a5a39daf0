import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const together = {
  id: 'together',
  name: 'Together AI',
  baseUrl: 'https://api.together.xyz/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'TOGETHER_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'together', except: /-Base\b|-Base-/ }],
  factsSource: { lists: ['together'], sellsExcept: /^$/, knowsAll: true },
} satisfies Provider
