import { gemini } from '../dialects/gemini.ts'
import type { Provider } from './provider.ts'

// Left out: Claude, which Google sells elsewhere; what draws, speaks or listens live, at rates of its own; retired
// generations. https://ai.google.dev/gemini-api/docs/models, …/deprecations (2026-11)
export const notGemini =
  /^(?!gemini)|gemini-(1|2\.0|2\.5-flash-preview$|pro$|flash-1|pro-1)|image|tts|audio|live|omni|embedding|robotics|computer-use/

export const google = {
  id: 'google',
  name: 'Google AI Studio',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  dialect: gemini,
  apiKeyEnv: 'GOOGLE_API_KEY',
  authorize: (apiKey: string): Record<string, string> =>
    apiKey === '' ? {} : { 'x-goog-api-key': apiKey },
  priceSources: [{ id: 'google', except: notGemini }],
} satisfies Provider
