import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const zai = {
  id: 'zai',
  name: 'Z.ai',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens', reasoning: 'thinking' }),
  apiKeyEnv: 'ZAI_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'zai' }],
  factsSource: { lists: ['zai'], sellsExcept: /^$/ },
} satisfies Provider
