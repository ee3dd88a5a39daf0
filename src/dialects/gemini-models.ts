/**
 * What Gemini models of each generation take, read from their names; the API answers 400 where these rules are broken.
 * Sources: https://ai.google.dev/gemini-api/docs/thinking, …/thought-signatures, …/openai (2026-11), recorded answers.
 */

export type GeminiTraits = {
  /** How much to reason is said by `thinkingBudget` (2.5) or by `thinkingLevel` (from 3 on). */
  readonly thinking: 'none' | 'budget' | 'level'
  /** Reasoning can be switched off, or down to next to nothing. */
  readonly canRest: boolean
  readonly smallestBudget: number
  readonly largestBudget: number
  /** The level `MEDIUM` exists. */
  readonly takesMedium: boolean
  /** The level `MINIMAL` exists. */
  readonly takesMinimal: boolean
  readonly takesPenalties: boolean
  /** A call without a signature is refused; results may hold images and files. */
  readonly isSigned: boolean
  readonly takesInstructions: boolean
}

const named = /gemini-(?:(\d)(?:\.(\d))?-)?(pro|flash-lite|flash)?/

/** Gemma, and whatever else is served in this format. */
const foreign = (model: string): GeminiTraits => ({
  ...traitsOf(100, ''),
  takesInstructions: !/gemma-[123]/.test(model),
})

const traitsOf = (version: number, family: string): GeminiTraits => {
  const isPro = family === 'pro'
  const thinking = version >= 300 ? 'level' : version >= 205 ? 'budget' : 'none'
  return {
    thinking,
    canRest: !isPro,
    smallestBudget: isPro ? 128 : family === 'flash-lite' ? 512 : 1,
    largestBudget: isPro ? 32_768 : 24_576,
    takesMedium: !isPro || version > 300,
    takesMinimal: !isPro,
    takesPenalties: version < 205,
    isSigned: version >= 300,
    takesInstructions: true,
  }
}

const known = new Map<string, GeminiTraits>()
const maxKnown = 256

/** Traits by model name. A Gemini that isn't known yet (`gemini-flash-latest`) is taken for one of the newest. */
export const geminiTraits = (model: string): GeminiTraits => {
  let traits = known.get(model)
  if (traits === undefined) {
    const [found, major, minor = '0', family = ''] = named.exec(model) ?? []
    if (found === undefined) traits = foreign(model)
    else traits = traitsOf(major === undefined ? 350 : Number(major) * 100 + Number(minor), family)
    if (known.size >= maxKnown) known.clear()
    known.set(model, traits)
  }
  return traits
}
