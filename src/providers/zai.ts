import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const zai = {
  id: 'zai',
  name: 'Z.ai',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  dialect: chatCompletions,
  apiKeyEnv: 'ZAI_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'zai' }],
} satisfies Provider
