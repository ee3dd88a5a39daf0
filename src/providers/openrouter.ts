import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const openrouter = {
  id: 'openrouter',
  name: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'OPENROUTER_API_KEY',
  authorize: bearer,
  // Its names are author/model; those without an author are for matching only. Perplexity's search fee and the batch
  // prices are not what a chat here is billed.
  priceSources: [{ id: 'openrouter', except: /^[^/]*$|^perplexity\/|:batch$/ }],
} satisfies Provider
