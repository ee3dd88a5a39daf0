import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const groq = {
  id: 'groq',
  name: 'Groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'GROQ_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'groq' }],
  factsSource: { lists: ['groq'], sellsExcept: /^$/, knowsAll: true },
} satisfies Provider
