import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const moonshot = {
  id: 'moonshot',
  name: 'Moonshot',
  baseUrl: 'https://api.moonshot.ai/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'MOONSHOT_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'moonshotai' }],
} satisfies Provider
