import { gemini } from '../dialects/gemini.ts'
import { googleTokenRequest, readGoogleToken } from '../wire/google-token.ts'
import { notGemini } from './google.ts'
import { bearer, type Provider } from './provider.ts'

/** Of the express mode; anything else is an access token. */
const isApiKey = (credential: string): boolean => /^(?:AIza|AQ\.)/.test(credential)

/**
 * Gemini on Vertex AI. The credential: a service account's key file, as JSON or in base64; an API key of the express
 * mode, whose base URL is https://aiplatform.googleapis.com/v1/publishers/google; or an access token of one's own.
 */
export const vertex = {
  id: 'vertex',
  name: 'Google Vertex AI',
  baseUrl:
    'https://us-central1-aiplatform.googleapis.com/v1/projects/PROJECT/locations/us-central1/publishers/google',
  needsBaseUrl: true,
  dialect: gemini,
  apiKeyEnv: 'VERTEX_API_KEY',
  authorize: (credential: string): Record<string, string> =>
    isApiKey(credential) ? { 'x-goog-api-key': credential } : bearer(credential),
  exchange: { request: googleTokenRequest, parse: readGoogleToken },
  priceSources: [{ id: 'google', except: notGemini }],
  factsSource: { lists: ['google-vertex', 'google'] },
} satisfies Provider
