import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const huggingface = {
  id: 'huggingface',
  name: 'Hugging Face',
  baseUrl: 'https://router.huggingface.co/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens' }),
  apiKeyEnv: 'HUGGINGFACE_API_KEY',
  authorize: bearer,
  // The router picks the vendor, and so the price, unless the name ends with one.
  // https://huggingface.co/docs/inference-providers (2026-11)
  priceSources: [
    { id: 'huggingface_cerebras', suffix: ':cerebras' },
    { id: 'huggingface_fireworks-ai', suffix: ':fireworks-ai' },
    { id: 'huggingface_groq', suffix: ':groq' },
    { id: 'huggingface_hyperbolic', suffix: ':hyperbolic' },
    { id: 'huggingface_nebius', suffix: ':nebius' },
    { id: 'huggingface_novita', suffix: ':novita' },
    { id: 'huggingface_nscale', suffix: ':nscale' },
    { id: 'huggingface_ovhcloud', suffix: ':ovhcloud' },
    { id: 'huggingface_publicai', suffix: ':publicai' },
    { id: 'huggingface_sambanova', suffix: ':sambanova' },
    { id: 'huggingface_together', suffix: ':together' },
  ],
} satisfies Provider
