/** What a model's name says, where no source says more. Names of makers only; who serves them makes no difference. */

const notChat =
  /embed|whisper|transcri|\btts\b|speech|voice|image|dall-?e|\bimagen|video|\bveo|lyria|sora|realtime|\blive\b|moderation|\bguard\b|rerank|\bocr\b|\bbge\b|^(text-)?(ada|babbage|curie|davinci)(-\d+)?$|-translate/i

/** Embeddings, speech, images, moderation, ranking and the old completions: no chat can be had with them. */
export const isChatName = (name: string): boolean => !notChat.test(name)

const reasoning = [
  /(^|\/)o[134](-|$)/,
  /\bgpt-(5|6)(?!.*\bchat\b)/,
  /gpt-oss/,
  /\bgrok-(3-mini|4|5|build|code)(?!.*non-reasoning)/,
  /deepseek-?(ai\/)?.*(\br1\b|reasoner|v4)/,
  /think(ing|er)/,
  /(?<!non-)reasoning/,
  /magistral|\bqwq\b|kimi-k(3|2[.p][5-9])|glm-(4[.p][5-9]|5|6)|minimax-?m\d|gemini-(2\.5|[3-9])|nemotron-3|inkling/,
  /\bqwen-?3(?!.*(instruct|coder))/,
]

/** Whether the model is known to reason before it answers. A wrong yes costs a larger hold, a wrong no a short one. */
export const isReasoningName = (name: string): boolean => {
  const lower = name.toLowerCase()
  return reasoning.some(pattern => pattern.test(lower))
}

/** https://platform.openai.com/docs/models (2026-11). The first that fits counts. */
const outputLimits: readonly (readonly [RegExp, number])[] = [
  [/\bgpt-3\.5-turbo/, 4096],
  [/\bgpt-4(-turbo|-vision|-1106|-0125)/, 4096],
  [/\bgpt-4o-2024-05-13/, 4096],
  [/\bgpt-4o|\bchatgpt-4o/, 16_384],
  [/\bgpt-4\.1/, 32_768],
  [/\bgpt-4(-\d{4})?$/, 8192],
  [/(^|\/)o1-mini/, 65_536],
  [/(^|\/)o1-preview/, 32_768],
  [/(^|\/)o[134](-|$)/, 100_000],
  [/\bgpt-5[^/]*-chat/, 16_384],
  [/\bgpt-[56]/, 128_000],
]

/** The most output tokens that a model of this name takes, `null` where that isn't known. */
export const outputLimitOf = (name: string): number | null =>
  outputLimits.find(([pattern]) => pattern.test(name))?.[1] ?? null

/**
 * What the same model is called by all who serve it, more or less: without its maker, the router's vendor, its packing,
 * and what stands for a point. Good enough for a limit, not for a price.
 */
export const sameModelName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/:.*$/, '')
    .replace(/(\d)p(\d)/g, '$1.$2')
    .replace(/[._]/g, '-')
    .replace(/^meta-/, '')
    .replace(/-(fp8|fp4|bf16|fast|turbo|awq|tput|hf)(?=-|$)/g, '')
