import type { Model } from './model.ts'

export type Coverage = {
  readonly provider: string
  readonly models: number
  readonly priced: number
  readonly context: number
  readonly output: number
}

/** How much is known of what is for sale, by provider, and in all. */
export const coverageOf = (models: readonly Model[]): { rows: Coverage[]; total: Coverage } => {
  const byProvider = new Map<string, Model[]>()
  for (const model of models) {
    const { id } = model.provider.provider
    byProvider.set(id, [...(byProvider.get(id) ?? []), model])
  }
  return {
    rows: [...byProvider].map(([id, own]) => count(id, own)),
    total: count('all', models),
  }
}

const isPriced = ({ price }: Model): boolean =>
  price.tiers.every(({ rates }) => Object.values(rates).every(rate => rate > 0n))

const count = (provider: string, models: readonly Model[]): Coverage => ({
  provider,
  models: models.length,
  priced: models.filter(isPriced).length,
  context: models.filter(({ contextWindow }) => contextWindow !== null).length,
  output: models.filter(({ maxOutputTokens }) => maxOutputTokens !== null).length,
})
