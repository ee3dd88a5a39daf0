import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const novita = {
  id: 'novita',
  name: 'Novita',
  baseUrl: 'https://api.novita.ai/openai',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'NOVITA_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'novita' }],
} satisfies Provider
