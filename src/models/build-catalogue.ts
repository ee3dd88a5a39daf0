/** Joins providers, published prices and the operator's own into what is for sale. Runs at start and on a reload. */
import type { ModelInfo } from '@pydantic/genai-prices'
import type { ConfiguredProvider } from '../providers/configured-provider.ts'
import type { PricedModel, PriceSource } from '../providers/provider.ts'
import type { Stock } from './catalogue.ts'
import { completeRates, priceFromList, toNanoUsd } from './list-price.ts'
import type { Modality, Model } from './model.ts'
import { type Facts, type FactsTier, noFacts, type SoldFacts } from './model-facts.ts'
import { isReasoningName, outputLimitOf } from './model-name.ts'
import type { PriceTier } from './price.ts'
import type { PriceData } from './price-data.ts'
import {
  entryFinder,
  isSold,
  type PublishedModel,
  publishedModels,
  withoutDate,
} from './published-models.ts'

export type CatalogueSources = {
  readonly providers: ReadonlyMap<string, ConfiguredProvider>
  readonly prices: PriceData
  /** The operator's file, where there is one. */
  readonly file?:
    | { readonly version: string; readonly models: ReadonlyMap<string, readonly PricedModel[]> }
    | undefined
  /** Now, for prices with a date. */
  readonly nowMs: number
}

/** What is for sale with these settings. Raises `RangeError` for a price that is not a decimal. */
export const buildStock = ({ providers, prices, file, nowMs }: CatalogueSources): Stock => {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const models = new Map<string, Model>()
  const aliases = new Map<string, Model>()
  const snapshots = new Map<string, FindModel[]>()
  const changes: string[] = []
  const soldByFacts = soldByProvider(prices)
  for (const [id, provider] of providers) {
    for (const source of provider.provider.priceSources ?? []) {
      const published = readSource(provider, source, prices, today)
      for (const model of published.models) models.set(model.id, model)
      for (const alias of published.aliases) aliases.set(alias.id, alias)
      snapshots.set(id, [...(snapshots.get(id) ?? []), published.snapshot])
      changes.push(...published.changes)
    }
    for (const [name, facts, sold] of soldByFacts.get(id) ?? [])
      if (!models.has(`${id}/${name}`) && !aliases.has(`${id}/${name}`))
        put(models, fromFacts(name, facts, sold, provider, prices.facts.version))
    const { ownModels = [] } = provider.provider
    for (const own of ownModels) put(models, fromPriced(own, provider, `${id}@${prices.version}`))
    for (const own of file?.models.get(id) ?? [])
      put(models, fromPriced(own, provider, file?.version ?? ''))
  }
  return {
    models: [...models.values()],
    aliases,
    nextPriceChange: changes.sort()[0] ?? null,
    snapshot: modelId => findSnapshot(modelId, snapshots),
  }
}

type FindModel = (name: string) => Model | undefined

type SourceModels = {
  models: Model[]
  aliases: Model[]
  changes: string[]
  snapshot: FindModel
}

const put = (models: Map<string, Model>, model: Model): void => {
  models.set(model.id, model)
}

const findSnapshot = (
  modelId: string,
  snapshots: ReadonlyMap<string, FindModel[]>,
): Model | undefined => {
  const slash = modelId.indexOf('/')
  for (const find of snapshots.get(modelId.slice(0, slash)) ?? []) {
    const model = find(modelId.slice(slash + 1))
    if (model) return model
  }
  return undefined
}

/** The models of one provider that one list of genai-prices has. */
const readSource = (
  provider: ConfiguredProvider,
  source: PriceSource,
  prices: PriceData,
  today: string,
): SourceModels => {
  const list = prices.lists.find(({ id }) => id === source.id)
  if (list === undefined) throw new RangeError(`genai-prices has no list "${source.id}"`)
  const find = entryFinder(list)
  const models: Model[] = []
  const aliases: Model[] = []
  const changes: string[] = []
  const byEntry = new Map<ModelInfo, Model>()
  const entryByName = new Map<string, ModelInfo>()
  for (const published of publishedModels(list, find, source, today, prices.version)) {
    const [listed, ...others] = published.names.map(name =>
      fromPublished(name, published, provider, factsOf(provider, name, published, prices)),
    )
    if (listed === undefined || isRetired(listed, prices)) continue
    models.push(listed)
    aliases.push(...others)
    byEntry.set(published.entry, listed)
    for (const name of published.names) entryByName.set(name, published.entry)
    if (published.nextChange !== null) changes.push(published.nextChange)
  }
  const snapshot: FindModel = name => {
    const stem = withoutDate(name)
    const entry = stem === undefined ? undefined : entryByName.get(stem)
    if (entry === undefined || source.suffix !== undefined || !isSold(name, source))
      return undefined
    const model = find(name) === entry ? byEntry.get(entry) : undefined
    return model && { ...model, id: `${provider.provider.id}/${name}`, upstreamModel: name }
  }
  return { models, aliases, changes, snapshot }
}

/** Lists keep names for ever; without facts nobody can tell. */
const isRetired = ({ provider, contextWindow }: Model, { facts }: PriceData): boolean =>
  facts !== noFacts && contextWindow === null && provider.provider.factsSource?.knowsAll === true

/** Of a name, or else of the one that its entry is listed by. */
const factsOf = (
  { provider }: ConfiguredProvider,
  name: string,
  { names: [listed] }: PublishedModel,
  { facts: { models } }: PriceData,
): Facts => models[`${provider.id}/${name}`] ?? models[`${provider.id}/${listed}`] ?? {}

const fromPublished = (
  name: string,
  model: PublishedModel,
  provider: ConfiguredProvider,
  facts: Facts,
): Model => ({
  id: `${provider.provider.id}/${name}`,
  name: model.entry.name ?? name,
  provider,
  upstreamModel: model.upstreamModel(name),
  price: model.price,
  ...known(name, facts),
  contextWindow: facts.context ?? model.entry.context_window ?? null,
  created: 0,
  description: model.entry.description ?? null,
})

type Known = Pick<
  Model,
  | 'maxOutputTokens'
  | 'reasons'
  | 'inputModalities'
  | 'outputModalities'
  | 'supportsTools'
  | 'supportsReasoning'
>

const known = (name: string, facts: Facts): Known => ({
  maxOutputTokens: facts.output ?? outputLimitOf(name),
  reasons: facts.reasoning === 'always' || isReasoningName(name),
  inputModalities: facts.image === undefined ? null : facts.image ? seesImages : readsText,
  outputModalities: facts.image === undefined ? null : readsText,
  supportsTools: facts.tools ?? null,
  supportsReasoning: facts.reasoning === undefined ? null : facts.reasoning !== 'never',
})

const readsText: readonly Modality[] = ['text']
const seesImages: readonly Modality[] = ['text', 'image']

type Sold = readonly [name: string, facts: Facts, sold: SoldFacts]

/** What the second source prices, by provider. */
const soldByProvider = ({ facts }: PriceData): ReadonlyMap<string, readonly Sold[]> => {
  const sold = new Map<string, Sold[]>()
  for (const [id, model] of Object.entries(facts.models)) {
    if (model.sold === undefined) continue
    const slash = id.indexOf('/')
    const provider = id.slice(0, slash)
    const models = sold.get(provider) ?? []
    models.push([id.slice(slash + 1), model, model.sold])
    sold.set(provider, models)
  }
  return sold
}

const fromFacts = (
  name: string,
  facts: Facts,
  { title, tiers: [first, ...more] }: SoldFacts,
  provider: ConfiguredProvider,
  version: string,
): Model => ({
  id: `${provider.provider.id}/${name}`,
  name: title,
  provider,
  upstreamModel: name,
  price: {
    version,
    effectiveFrom: null,
    tiers: [toTier(first), ...more.map(toTier)],
    fees: {},
  },
  ...known(name, facts),
  contextWindow: facts.context ?? null,
  created: 0,
  description: null,
})

const toTier = ({ above, input, output, cacheRead, cacheWrite }: FactsTier): PriceTier => ({
  abovePromptTokens: above,
  rates: completeRates({
    input: toNanoUsd(input),
    output: toNanoUsd(output),
    ...(cacheRead === undefined ? {} : { cacheRead: toNanoUsd(cacheRead) }),
    ...(cacheWrite === undefined ? {} : { cacheWrite: toNanoUsd(cacheWrite) }),
  }),
})

const fromPriced = (model: PricedModel, provider: ConfiguredProvider, version: string): Model => ({
  id: `${provider.provider.id}/${model.name}`,
  name: model.title,
  provider,
  upstreamModel: model.upstreamModel,
  price: priceFromList(model.price, version),
  contextWindow: model.contextWindow,
  ...known(model.name, {
    ...(model.images === undefined ? {} : { image: model.images }),
    ...(model.tools === undefined ? {} : { tools: model.tools }),
    ...(model.reasons ? { reasoning: 'always' } : {}),
  }),
  maxOutputTokens: model.maxOutputTokens,
  reasons: model.reasons,
  created: 0,
  description: model.description,
})
