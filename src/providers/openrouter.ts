import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const openrouter = {
  id: 'openrouter',
  name: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens', reasoning: 'reasoning' }),
  apiKeyEnv: 'OPENROUTER_API_KEY',
  authorize: bearer,
  // Its names are author/model; those without an author are for matching only. What searches, routes or answers in
  // batches is billed by more, or less, than the list has.
  priceSources: [
    { id: 'openrouter', except: /^[^/]*$|^perplexity\/|search|deep-research|\/router$|:batch$/ },
  ],
  factsSource: {
    lists: ['openrouter'],
    sellsExcept: /^~|^openrouter\/|^perplexity\/|search|deep-research|router$|:(batch|free)$/,
    knowsAll: true,
  },
} satisfies Provider
