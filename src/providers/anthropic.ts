import { anthropicMessages } from '../dialects/anthropic-messages.ts'
import type { Provider } from './provider.ts'

export const anthropic = {
  id: 'anthropic',
  name: 'Anthropic',
  baseUrl: 'https://api.anthropic.com',
  dialect: anthropicMessages,
  apiKeyEnv: 'ANTHROPIC_API_KEY',
  authorize: (apiKey): Record<string, string> => (apiKey === '' ? {} : { 'x-api-key': apiKey }),
  priceSources: [
    {
      id: 'anthropic',
      // Retired: https://platform.claude.com/docs/en/about-claude/model-deprecations (2026-11). The second are names
      // that only the list has.
      except: /^claude-(v?[12]\b|3|instant)|^claude-(opus|sonnet)-4$/,
      alsoNamed: ['claude-sonnet-4-20250514'],
    },
  ],
} satisfies Provider
