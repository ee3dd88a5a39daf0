import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const cloudflare = {
  id: 'cloudflare',
  name: 'Cloudflare Workers AI',
  baseUrl: 'https://api.cloudflare.com/client/v4/accounts/ACCOUNT_ID/ai/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'CLOUDFLARE_API_KEY',
  authorize: bearer,
  needsBaseUrl: true,
  priceSources: [{ id: 'cloudflare', except: /indictrans|m2m100|distilbert|plamo/ }],
  factsSource: { lists: ['cloudflare-workers-ai'], sellsExcept: /^$/ },
} satisfies Provider
