import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const deepinfra = {
  id: 'deepinfra',
  name: 'DeepInfra',
  baseUrl: 'https://api.deepinfra.com/v1/openai',
  dialect: chatCompletions,
  apiKeyEnv: 'DEEPINFRA_API_KEY',
  authorize: bearer,
} satisfies Provider
