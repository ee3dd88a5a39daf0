import { cohereChat } from '../dialects/cohere-chat.ts'
import { bearer, type Provider } from './provider.ts'

export const cohere = {
  id: 'cohere',
  name: 'Cohere',
  baseUrl: 'https://api.cohere.com',
  dialect: cohereChat,
  apiKeyEnv: 'COHERE_API_KEY',
  authorize: bearer,
  priceSources: [
    {
      id: 'cohere',
      // Retired, or names that only the list has: https://docs.cohere.com/docs/models (2026-11)
      except: /^command(-light.*|-a|-r|-r-plus|-r7b)?$/,
      alsoNamed: [
        'command-a-03-2025',
        'command-r-08-2024',
        'command-r-plus-08-2024',
        'command-r7b-12-2024',
      ],
    },
  ],
} satisfies Provider
