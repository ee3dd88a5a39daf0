/**
 * What Claude models of each generation take and refuse, read from their names; the API answers 400 where these rules
 * are broken. Sources: https://platform.claude.com/docs/en/about-claude/models/overview,
 * …/build-with-claude/extended-thinking, …/adaptive-thinking, …/structured-outputs (2026-11), and recorded refusals.
 */

export type ClaudeTraits = {
  /** How much to reason is said by `budget_tokens` (from 3.7 on) or by `effort` (from 4.6 on, alone from 4.7 on). */
  readonly thinking: 'none' | 'budget' | 'either' | 'effort'
  /** Reasoning can't be switched off. */
  readonly alwaysThinks: boolean
  /** The effort `xhigh` exists. */
  readonly takesExtraHigh: boolean
  readonly takesSampling: boolean
  /** `temperature` and `top_p` exclude each other. */
  readonly oneOfSampling: boolean
  /** A tool choice of `any` or `tool`. */
  readonly takesForcedTool: boolean
  /** `output_config.format` and strict tools. */
  readonly takesSchema: boolean
  /** Tokens, `null` where it isn't known. */
  readonly maxOutputTokens: number | null
  /** The required `max_tokens` where the client named none. */
  readonly defaultMaxTokens: number
}

const named = /claude-(?:([a-z]+)-)?(\d)(?:[-.](\d{1,2})(?!\d))?(?!\d)/

/** Of a model that speaks this format and isn't Claude: the common ground, and nothing assumed beyond it. */
const foreign: ClaudeTraits = {
  thinking: 'budget',
  alwaysThinks: false,
  takesExtraHigh: false,
  takesSampling: true,
  oneOfSampling: false,
  takesForcedTool: true,
  takesSchema: true,
  maxOutputTokens: null,
  defaultMaxTokens: 4096,
}

const thinkingOf = (version: number): ClaudeTraits['thinking'] => {
  if (version < 307) return 'none'
  if (version < 406) return 'budget'
  return version < 407 ? 'either' : 'effort'
}

const maxOutputOf = (family: string, version: number): number => {
  if (version >= 406) return 128_000
  if (version >= 405) return 64_000
  if (version >= 307) return family === 'opus' ? 32_000 : 64_000
  return version >= 305 ? 8192 : 4096
}

const traitsOf = (family: string, version: number): ClaudeTraits => {
  const maxOutputTokens = maxOutputOf(family, version)
  const isFable = family === 'fable' || family === 'mythos'
  return {
    thinking: thinkingOf(version),
    alwaysThinks: isFable || version >= 505,
    takesExtraHigh: version >= 407,
    takesSampling: version < 407,
    oneOfSampling: version >= 400,
    takesForcedTool: version < (isFable ? 501 : 505),
    takesSchema: version >= 405 || (family === 'opus' && version === 401),
    maxOutputTokens,
    // Before 4.5 the API refuses a prompt that leaves no room for all of max_tokens, so it must not ask for too much.
    defaultMaxTokens: version >= 405 ? maxOutputTokens : Math.min(maxOutputTokens, 16_384),
  }
}

const known = new Map<string, ClaudeTraits>()
const maxKnown = 256

/** Traits by model name. A Claude that isn't known yet is taken for one of the newest. */
export const claudeTraits = (model: string): ClaudeTraits => {
  let traits = known.get(model)
  if (traits === undefined) {
    const [found, family = '', major = '', minor = '0'] = named.exec(model) ?? []
    if (found !== undefined) traits = traitsOf(family, Number(major) * 100 + Number(minor))
    else traits = model.includes('claude') ? traitsOf('', 500) : foreign
    if (known.size >= maxKnown) known.clear()
    known.set(model, traits)
  }
  return traits
}
