import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const sambanova = {
  id: 'sambanova',
  name: 'SambaNova',
  baseUrl: 'https://api.sambanova.ai/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'SAMBANOVA_API_KEY',
  authorize: bearer,
} satisfies Provider
