/**
 * What one answer used, in disjoint classes: a token is counted in exactly one of them. (Vendors nest theirs:
 * OpenAI's `prompt_tokens` holds the cached ones, Anthropic's `input_tokens` does not. Dialects undo that.)
 */

export const inputClasses = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'inputAudio',
  'cacheReadAudio',
] as const
const outputClasses = ['output', 'outputAudio'] as const
export const tokenClasses = [...inputClasses, ...outputClasses] as const
export type TokenClass = (typeof tokenClasses)[number]

/** What is paid by the piece. */
export const countedFees = ['request', 'webSearch'] as const
export type CountedFee = (typeof countedFees)[number]

export type Usage = {
  /** Tokens by class; a missing class is 0. Non-negative safe integers. */
  tokens: { [K in TokenClass]?: number }
  /** The part of `output` that was reasoning; already inside it, never charged again. */
  reasoning?: number
  /** Pieces that carry a fee of their own. */
  counts?: { [K in CountedFee]?: number }
}

/** All tokens of the prompt: the figure that price tiers are chosen by. */
export const promptTokens = ({ tokens }: Usage): number => {
  let sum = 0
  for (const name of inputClasses) sum += tokens[name] ?? 0
  return sum
}

/** All tokens of the answer, reasoning included. */
export const completionTokens = ({ tokens }: Usage): number =>
  (tokens.output ?? 0) + (tokens.outputAudio ?? 0)
