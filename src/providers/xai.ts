import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const xai = {
  id: 'xai',
  name: 'xAI',
  baseUrl: 'https://api.x.ai/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'XAI_API_KEY',
  authorize: bearer,
  // The multi-agent models answer on /responses only.
  priceSources: [{ id: 'x-ai', except: /multi-agent/ }],
  factsSource: { lists: ['xai'], sellsExcept: /^$/ },
} satisfies Provider
