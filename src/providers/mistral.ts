import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const mistral = {
  id: 'mistral',
  name: 'Mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  dialect: chatCompletionsWith({
    outputCap: 'max_tokens',
    renames: { seed: 'random_seed' },
    // It answers 422 to fields that it doesn't know.
    drops: ['user', 'store', 'service_tier', 'stream_options'],
    refuses: [
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'functions',
      'function_call',
      'modalities',
      'audio',
    ],
    dropsFromMessages: ['refusal', 'audio', 'function_call', 'annotations', 'reasoning'],
  }),
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
  factsSource: { lists: ['mistral'], sellsExcept: /^$/, knowsAll: true },
} satisfies Provider
