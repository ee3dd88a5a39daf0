/** Usage of a Gemini answer in our disjoint classes. https://ai.google.dev/api/generate-content#UsageMetadata (2026-11) */
import { countOf, type Fields, fieldsOf } from '../wire/fields.ts'
import type { Usage } from '../wire/usage.ts'

/** Tokens of sound in a list by modality. */
const audioIn = (details: unknown): number => {
  let tokens = 0
  if (!Array.isArray(details)) return 0
  for (const detail of details) {
    const { modality, tokenCount } = fieldsOf(detail)
    if (modality === 'AUDIO') tokens += Math.max(0, countOf(tokenCount))
  }
  return tokens
}

/**
 * The prompt holds the cached tokens, but not what tools of the provider's own put into it; the candidates don't hold
 * the thoughts. `null` where a count is missing (early chunks of Vertex have none) or absurd.
 */
export const readUsage = (reported: Fields): Usage | null => {
  if (reported.promptTokenCount == null) return null
  const prompted = countOf(reported.promptTokenCount)
  const byTools = countOf(reported.toolUsePromptTokenCount)
  const answered = countOf(reported.candidatesTokenCount)
  const thoughts = countOf(reported.thoughtsTokenCount)
  const cachedCount = countOf(reported.cachedContentTokenCount)
  if (Math.min(prompted, byTools, answered, thoughts, cachedCount) < 0) return null
  const prompt = prompted + byTools
  const cached = Math.min(cachedCount, prompt)
  const sound = audioIn(reported.promptTokensDetails) + audioIn(reported.toolUsePromptTokensDetails)
  const cacheReadAudio = Math.min(audioIn(reported.cacheTokensDetails), cached, sound)
  const inputAudio = Math.min(sound - cacheReadAudio, prompt - cached)
  const outputAudio = Math.min(audioIn(reported.candidatesTokensDetails), answered)
  const usage: Usage = {
    tokens: { input: prompt - cached - inputAudio, output: answered + thoughts - outputAudio },
  }
  if (cached > cacheReadAudio) usage.tokens.cacheRead = cached - cacheReadAudio
  if (cacheReadAudio > 0) usage.tokens.cacheReadAudio = cacheReadAudio
  if (inputAudio > 0) usage.tokens.inputAudio = inputAudio
  if (outputAudio > 0) usage.tokens.outputAudio = outputAudio
  if (thoughts > 0) usage.reasoning = thoughts
  return usage
}
