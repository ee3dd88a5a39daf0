import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const deepseek = {
  id: 'deepseek',
  name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens', reasoning: 'thinking' }),
  apiKeyEnv: 'DEEPSEEK_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'deepseek' }],
  factsSource: { lists: ['deepseek'], sellsExcept: /^$/ },
} satisfies Provider
