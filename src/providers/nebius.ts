import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const nebius = {
  id: 'nebius',
  name: 'Nebius Token Factory',
  baseUrl: 'https://api.tokenfactory.nebius.com/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'NEBIUS_API_KEY',
  authorize: bearer,
  // Hugging Face passes its prices on unchanged, under the same names.
  // https://huggingface.co/docs/inference-providers/pricing (2026-11)
  priceSources: [{ id: 'huggingface_nebius', suffix: '' }],
} satisfies Provider
