import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const hyperbolic = {
  id: 'hyperbolic',
  name: 'Hyperbolic',
  baseUrl: 'https://api.hyperbolic.xyz/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'HYPERBOLIC_API_KEY',
  authorize: bearer,
  // Hugging Face passes its prices on unchanged, under the same names.
  // https://huggingface.co/docs/inference-providers/pricing (2026-11)
  priceSources: [{ id: 'huggingface_hyperbolic', suffix: '' }],
} satisfies Provider
