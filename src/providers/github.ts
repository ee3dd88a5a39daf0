import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const github = {
  id: 'github',
  name: 'GitHub Models',
  baseUrl: 'https://models.github.ai/inference',
  dialect: chatCompletions,
  apiKeyEnv: 'GITHUB_API_KEY',
  authorize: bearer,
} satisfies Provider
