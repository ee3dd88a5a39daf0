import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const moonshot = {
  id: 'moonshot',
  name: 'Moonshot',
  baseUrl: 'https://api.moonshot.ai/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens', reasoning: 'thinking' }),
  apiKeyEnv: 'MOONSHOT_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'moonshotai' }],
  factsSource: { lists: ['moonshotai'], sellsExcept: /^$/ },
} satisfies Provider
