import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const openai = {
  id: 'openai',
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_completion_tokens' }),
  apiKeyEnv: 'OPENAI_API_KEY',
  authorize: bearer,
  // Left out: what only /responses or the realtime socket serves, what bills searches at rates that the list
  // lacks, fine-tuned names, and open weights that OpenAI itself doesn't host.
  // https://platform.openai.com/docs/models (2026-11)
  priceSources: [
    {
      id: 'openai',
      except: /-pro\b|codex|deep-research|computer-use|search|^ft:|\.ft-|:|gpt-oss|instruct/,
    },
  ],
} satisfies Provider
