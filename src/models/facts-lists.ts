/** The lists of the second source, `@earendil-works/pi-ai`: one a provider, each a map of names. */
import { z } from 'zod'

const Tier = z.object({
  inputTokensAbove: z.int().positive(),
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
})

const Entry = z.object({
  type: z.literal('chat'),
  id: z.string(),
  name: z.string(),
  reasoning: z.boolean(),
  input: z.array(z.enum(['text', 'image'])),
  /** USD per million tokens; 0 also where nobody says. */
  cost: Tier.omit({ inputTokensAbove: true }).extend({ tiers: z.array(Tier).optional() }),
  contextWindow: z.int(),
  maxTokens: z.int(),
  /** `off: null`: reasoning can't be turned off. */
  thinkingLevelMap: z.looseObject({ off: z.string().nullish() }).optional(),
})

export type FactsEntry = z.infer<typeof Entry>

/** By a name in lower case. */
export type FactsList = ReadonlyMap<string, FactsEntry>

/** Names of models below the API that they are asked by. */
const ListFile = z.record(z.string(), z.record(z.string(), z.unknown()))

/** One file of the package: its chat models. Raises `ZodError` where it has another shape than the known one. */
export const parseFactsList = (text: string): FactsList => {
  const list = new Map<string, FactsEntry>()
  for (const models of Object.values(ListFile.parse(JSON.parse(text)))) {
    for (const [key, model] of Object.entries(models)) {
      if (!key.startsWith('chat:')) continue
      const entry = Entry.parse(model)
      list.set(entry.id.toLowerCase(), entry)
    }
  }
  return list
}

/** Written where the package's own sources say nothing: models.dev's is 4096, a router's a part of the context. */
const isFiller = ({ maxTokens, contextWindow }: FactsEntry): boolean =>
  maxTokens === 4096 || maxTokens === Math.floor(contextWindow * 0.9)

/** The longest answer in tokens; `undefined` where nobody says. */
export const outputOf = (entry: FactsEntry): number | undefined =>
  isFiller(entry) ? undefined : Math.min(entry.maxTokens, entry.contextWindow)

export const reasoningOf = ({ reasoning, thinkingLevelMap }: FactsEntry) => {
  if (!reasoning) return 'never'
  return thinkingLevelMap?.off === null ? 'always' : 'asked'
}
