import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const mistral = {
  id: 'mistral',
  name: 'Mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'MISTRAL_API_KEY',
  authorize: bearer,
  priceSources: [
    {
      id: 'mistral',
      // https://docs.mistral.ai/getting-started/models (2026-11)
      sameAs: {
        'mistral-large-latest': 'mistral-large-2512',
        'mistral-small-latest': 'mistral-small-2603',
      },
    },
  ],
} satisfies Provider
