/** Joins the second source's lists with what is for sale. Runs when the facts are updated, never in a gateway. */
import type { Provider } from '../providers/provider.ts'
import type { Stock } from './catalogue.ts'
import { type FactsEntry, type FactsList, outputOf, reasoningOf } from './facts-lists.ts'
import { publishedToNanoUsd, toUsd } from './list-price.ts'
import type { Model } from './model.ts'
import type { Facts, FactsTier } from './model-facts.ts'
import { isChatName, sameModelName } from './model-name.ts'

export type FactsLists = ReadonlyMap<string, FactsList>

/** A figure in which both sources differ by more than 1 %. */
export type Disagreement = { id: string; what: string; ours: string; theirs: string }

export type Joined = {
  /** Sorted by id. */
  models: Record<string, Facts>
  disagreements: Disagreement[]
  /** Models of the second source that are not sold, since its price can't be right. */
  doubtful: string[]
}

/** Subscriptions and routers that cap what they resell: no witness for other providers. */
const noWitness = /token-plan|copilot|codex|coding|opencode|radius/

/** `stock`: made without facts. */
export const joinFacts = (
  stock: Stock,
  providers: readonly Provider[],
  lists: FactsLists,
): Joined => {
  const witnesses = witnessesOf(stock, lists)
  const found: [string, Facts][] = []
  const disagreements: Disagreement[] = []
  for (const model of [...stock.models, ...stock.aliases.values()]) {
    if (isOwnPrice(model)) continue
    const isListed = !stock.aliases.has(model.id)
    const own = ownEntry(model, lists) ?? (isListed ? ofAlias(model, stock, lists) : undefined)
    const witness = witnesses.get(sameModelName(model.upstreamModel))
    const facts = own ? ownFacts(own, model, witness) : witnessed(model, witness)
    if (isListed) found.push([model.id, { ...facts, price: basePrice(model) }])
    else if (own) found.push([model.id, facts])
    if (own && isListed) disagreements.push(...compare(model, own))
  }
  const doubtful: string[] = []
  for (const provider of providers) {
    for (const [id, facts] of soldByList(provider, stock, lists, witnesses)) {
      if (facts === null) doubtful.push(id)
      else found.push([id, facts])
    }
  }
  found.sort(([a], [b]) => (a < b ? -1 : 1))
  return { models: Object.fromEntries(found), disagreements, doubtful }
}

const isOwnPrice = ({ provider: { provider }, upstreamModel }: Model): boolean =>
  provider.ownModels?.some(own => own.upstreamModel === upstreamModel) === true

const listsOf = (provider: Provider, lists: FactsLists): FactsList[] =>
  (provider.factsSource?.lists ?? [provider.id]).flatMap(id => lists.get(id) ?? [])

const ownEntry = ({ provider, upstreamModel }: Model, lists: FactsLists): FactsEntry | undefined =>
  listsOf(provider.provider, lists)
    .map(list => list.get(upstreamModel.toLowerCase()))
    .find(entry => entry !== undefined)

/** Of another name of the same entry. */
const ofAlias = (model: Model, { aliases }: Stock, lists: FactsLists): FactsEntry | undefined =>
  [...aliases.values()]
    .filter(({ price, provider }) => price === model.price && provider === model.provider)
    .map(alias => ownEntry(alias, lists))
    .find(entry => entry !== undefined)

const ownFacts = (
  entry: FactsEntry,
  { contextWindow }: Pick<Model, 'contextWindow'>,
  witness: Witness | undefined,
): Facts => {
  const context = Math.max(entry.contextWindow, contextWindow ?? 0)
  const output = outputOf(entry) ?? Math.min(witness?.output || context + 1, context + 1)
  return {
    context,
    ...(output > context ? {} : { output }),
    image: entry.input.includes('image'),
    // The package leaves out what can't call tools: https://www.npmjs.com/package/@earendil-works/pi-ai (1.5.2).
    tools: true,
    reasoning: reasoningOf(entry),
  }
}

type Witness = {
  context: number
  output: number
  images: Set<boolean>
  reasoning: Set<boolean>
  /** USD per million tokens, of each who sells it. */
  costs: { input: number; output: number }[]
}

/** What all providers together say of a model, by `sameModelName`. */
const witnessesOf = (stock: Stock, lists: FactsLists): ReadonlyMap<string, Witness> => {
  const witnesses = new Map<string, Witness>()
  const of = (name: string): Witness => {
    const key = sameModelName(name)
    const known = witnesses.get(key)
    if (known) return known
    const fresh: Witness = {
      context: 0,
      output: 0,
      images: new Set(),
      reasoning: new Set(),
      costs: [],
    }
    witnesses.set(key, fresh)
    return fresh
  }
  for (const [id, list] of lists) {
    if (noWitness.test(id)) continue
    for (const [name, entry] of list) {
      const witness = of(name)
      witness.context = Math.max(witness.context, entry.contextWindow)
      witness.output = Math.max(witness.output, outputOf(entry) ?? 0)
      witness.images.add(entry.input.includes('image'))
      witness.reasoning.add(entry.reasoning)
      if (entry.cost.input > 0) witness.costs.push(entry.cost)
    }
  }
  for (const { upstreamModel, contextWindow, maxOutputTokens } of stock.models) {
    const witness = of(upstreamModel)
    witness.context = Math.max(witness.context, contextWindow ?? 0)
    witness.output = Math.max(witness.output, maxOutputTokens ?? 0)
  }
  return witnesses
}

/** Of a model that its own provider's list lacks: the most that others let it do, since a hold must cover it. */
const witnessed = (model: Model, witness: Witness | undefined): Facts => {
  if (witness === undefined) return {}
  const context = model.contextWindow ?? witness.context
  const output = Math.min(model.maxOutputTokens ?? witness.output, context || witness.output)
  return {
    ...(context > 0 ? { context } : {}),
    ...(output > 0 ? { output } : {}),
    ...(isOnly(witness.images, true) ? { image: true } : {}),
    ...(isOnly(witness.reasoning, true) ? { reasoning: 'asked' } : {}),
    ...(isOnly(witness.reasoning, false) ? { reasoning: 'never' } : {}),
  }
}

const isOnly = (said: ReadonlySet<boolean>, value: boolean): boolean =>
  said.size === 1 && said.has(value)

const basePrice = ({ price }: Model): [string, string] => {
  const { input, output } = price.tiers[0].rates
  return [toUsd(input), toUsd(output)]
}

const compare = (model: Model, { cost }: FactsEntry): Disagreement[] => {
  const { input, output, cacheRead } = model.price.tiers[0].rates
  const figures = [
    ['input', input, cost.input],
    ['output', output, cost.output],
    ['cacheRead', cacheRead, cost.cacheRead],
  ] as const
  return figures.flatMap(([what, ours, usd]) => {
    const theirs = usd > 0 ? publishedToNanoUsd(usd) : ours
    const apart = ours > theirs ? ours - theirs : theirs - ours
    if (apart * 100n <= ours) return []
    return [{ id: model.id, what, ours: toUsd(ours), theirs: toUsd(theirs) }]
  })
}

/** Speaks or listens, and the second source has no price for that. */
const isHeard = /audio|voxtral|omni/

/** `null` for a price that is too doubtful to sell by. */
const soldByList = (
  provider: Provider,
  stock: Stock,
  lists: FactsLists,
  witnesses: ReadonlyMap<string, Witness>,
): ReadonlyMap<string, Facts | null> => {
  const sold = new Map<string, Facts | null>()
  const except = provider.factsSource?.sellsExcept
  if (except === undefined) return sold
  const known = new Set(
    [...stock.models, ...stock.aliases.values()]
      .filter(model => model.provider.provider === provider)
      .flatMap(({ id, upstreamModel }) => [id.toLowerCase(), upstreamModel.toLowerCase()]),
  )
  for (const entry of listsOf(provider, lists).flatMap(list => [...list.values()])) {
    const id = `${provider.id}/${entry.id}`
    const isKnown =
      sold.has(id) ||
      known.has(id.toLowerCase()) ||
      known.has(entry.id.toLowerCase()) ||
      stock.snapshot(id) !== undefined
    if (isKnown || except.test(entry.id) || isHeard.test(entry.id) || !isChatName(entry.id))
      continue
    if (entry.cost.input <= 0 || entry.cost.output <= 0) continue
    const witness = witnesses.get(sameModelName(entry.id))
    sold.set(id, isDoubtful(entry, witness) ? null : soldFacts(entry, witness))
  }
  return sold
}

/** Far below what others take, or a figure that fits the others' in one class and not in the other. */
const isDoubtful = ({ cost }: FactsEntry, witness: Witness | undefined): boolean => {
  if (cost.output > 12 * cost.input) return true
  return (['input', 'output'] as const).some(name => {
    const all = (witness?.costs ?? []).map(one => one[name]).sort((a, b) => a - b)
    return cost[name] * 2 < (all[Math.floor(all.length / 2)] ?? 0)
  })
}

const soldFacts = (entry: FactsEntry, witness: Witness | undefined): Facts => {
  const { name, cost } = entry
  const first = factsTier(cost, 0)
  const more = (cost.tiers ?? []).map(tier => factsTier(tier, tier.inputTokensAbove))
  return {
    ...ownFacts(entry, { contextWindow: null }, witness),
    price: [first.input, first.output],
    sold: { title: name, tiers: [first, ...more.sort((a, b) => a.above - b.above)] },
  }
}

const factsTier = (
  figures: Pick<FactsEntry['cost'], 'input' | 'output' | 'cacheRead' | 'cacheWrite'>,
  above: number,
): FactsTier => {
  const usd = (figure: number) => toUsd(publishedToNanoUsd(figure))
  return {
    above,
    input: usd(figures.input),
    output: usd(figures.output),
    ...(figures.cacheRead > 0 ? { cacheRead: usd(figures.cacheRead) } : {}),
    // A smaller one is for storage, on top of the prompt's own price.
    ...(figures.cacheWrite > figures.input ? { cacheWrite: usd(figures.cacheWrite) } : {}),
  }
}
