import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const fireworks = {
  id: 'fireworks',
  name: 'Fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'FIREWORKS_API_KEY',
  authorize: bearer,
  priceSources: [{ id: 'fireworks' }],
  // Routers follow their newest model, and so does its price.
  factsSource: { lists: ['fireworks'], sellsExcept: /\/routers\// },
} satisfies Provider
