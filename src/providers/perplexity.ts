import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const perplexity = {
  id: 'perplexity',
  name: 'Perplexity',
  baseUrl: 'https://api.perplexity.ai',
  dialect: chatCompletionsWith({
    outputCap: 'max_tokens',
    endsWithoutDone: true,
    feePerRequest: true,
  }),
  apiKeyEnv: 'PERPLEXITY_API_KEY',
  authorize: bearer,
  // The 'online' models bill a fee that the list lacks.
  priceSources: [{ id: 'perplexity', except: /-online$|-search$/ }],
} satisfies Provider
