import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const deepseek = {
  id: 'deepseek',
  name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  dialect: chatCompletions,
  apiKeyEnv: 'DEEPSEEK_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'deepseek' }],
} satisfies Provider
