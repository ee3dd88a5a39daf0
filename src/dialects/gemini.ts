/**
 * Gemini's generateContent, as AI Studio and Vertex AI speak it: https://ai.google.dev/api/generate-content (2026-11).
 * Tools that Google runs itself are not offered: the gateway sells none of them.
 */
import type { Dialect } from './dialect.ts'
import { httpFailure } from './failure.ts'
import { parseResponse } from './gemini-answer.ts'
import { isReadInPlace } from './gemini-parts.ts'
import { renderRequest } from './gemini-request.ts'
import { GeminiStream } from './gemini-stream.ts'

export const gemini: Dialect = {
  id: 'gemini',
  // The provider reads some addresses itself, but only where the page's robots.txt lets it, and not on every model.
  inlinesMedia: url => !isReadInPlace(url),
  renderRequest,
  parseResponse,
  readStream: () => new GeminiStream(),
  parseError: httpFailure,
}
