/** The models of one provider as genai-prices lists them: which names it answers to, and at what price. */
import type { MatchLogic, ModelInfo, Provider as PriceList } from '@pydantic/genai-prices'
import type { PriceSource } from '../providers/provider.ts'
import { isChatName } from './model-name.ts'
import type { Price } from './price.ts'
import { publishedPrice } from './published-price.ts'

export type PublishedModel = {
  /** The name it is listed by, and what else it answers to. */
  readonly names: readonly string[]
  readonly upstreamModel: (name: string) => string
  readonly entry: ModelInfo
  readonly price: Price
  readonly nextChange: string | null
}

/** `lower` is `name` in lower case. */
type Rule = (name: string, lower: string) => boolean

/** A rule as the library reads its own, made ready once: each is asked for hundreds of names. */
const readRule = (rule: MatchLogic): Rule => {
  if ('or' in rule) {
    const parts = rule.or.map(readRule)
    return (name, lower) => parts.some(part => part(name, lower))
  }
  if ('and' in rule) {
    const parts = rule.and.map(readRule)
    return (name, lower) => parts.every(part => part(name, lower))
  }
  if ('regex' in rule) {
    const pattern = new RegExp(rule.regex)
    return name => pattern.test(name)
  }
  return readText(rule)
}

const readText = (
  rule: Exclude<MatchLogic, { or: unknown } | { and: unknown } | { regex: unknown }>,
): Rule => {
  if ('equals' in rule) {
    const text = rule.equals.toLowerCase()
    return (_, lower) => lower === text
  }
  if ('starts_with' in rule) {
    const text = rule.starts_with.toLowerCase()
    return (_, lower) => lower.startsWith(text)
  }
  if ('ends_with' in rule) {
    const text = rule.ends_with.toLowerCase()
    return (_, lower) => lower.endsWith(text)
  }
  const text = rule.contains.toLowerCase()
  return (_, lower) => lower.includes(text)
}

/** The names that a rule lists one by one. Other rules are too loose to sell by. */
const exactNames = (rule: MatchLogic): string[] => {
  if ('equals' in rule) return [rule.equals]
  return 'or' in rule ? rule.or.flatMap(exactNames) : []
}

/** The entry of a list that the library itself would price a name by: the first whose rule takes it. */
export type FindEntry = (name: string) => ModelInfo | undefined

export const entryFinder = ({ models }: PriceList): FindEntry => {
  const exact = new Map<string, number>()
  const loose: { position: number; takes: Rule }[] = []
  for (const [position, { match }] of models.entries()) {
    for (const name of exactNames(match)) {
      const lower = name.toLowerCase()
      if (!exact.has(lower)) exact.set(lower, position)
    }
    if (!isExact(match)) loose.push({ position, takes: readRule(match) })
  }
  return name => {
    const lower = name.toLowerCase()
    const first = exact.get(lower) ?? models.length
    const before = loose.find(({ position, takes }) => position < first && takes(name, lower))
    return models[before?.position ?? first]
  }
}

const isExact = (rule: MatchLogic): boolean =>
  'equals' in rule || ('or' in rule && rule.or.every(isExact))

export const isSold = (name: string, { except }: PriceSource): boolean =>
  isChatName(name) && !except?.test(name)

const namesOf = (
  entry: ModelInfo,
  find: FindEntry,
  source: PriceSource,
): Pick<PublishedModel, 'names' | 'upstreamModel'> => {
  const { suffix } = source
  if (suffix !== undefined) return { names: [entry.id + suffix], upstreamModel: name => name }
  const answersTo = exactNames(entry.match).filter(
    name => isSold(name, source) && !name.startsWith(`${source.id}/`) && find(name) === entry,
  )
  const own = (source.alsoNamed ?? []).filter(name => find(name) === entry)
  const listed = isSold(entry.id, source) ? [entry.id] : []
  const names = [...new Set([...listed, ...answersTo, ...own])].filter(
    name => source.sameAs?.[name] === undefined,
  )
  // Some ids are only labels (Fireworks'): the provider knows the model by the names of the rule.
  const [known] = answersTo
  const takes = readRule(entry.match)
  const isLabel = known !== undefined && !takes(entry.id, entry.id.toLowerCase())
  return { names, upstreamModel: name => (isLabel && name === entry.id ? known : name) }
}

/** Names that the list prices as an older model, moved to the entry that they stand for today. */
const withMovedNames = (model: PublishedModel, { sameAs = {} }: PriceSource): PublishedModel => {
  const moved = Object.keys(sameAs).filter(name => model.names.includes(sameAs[name] ?? ''))
  return moved.length === 0 ? model : { ...model, names: [...model.names, ...moved] }
}

/** A model that speaks or listens, in a list without the price of that: it would be billed as text. */
const lacksAudioPrice = ({ id, prices }: ModelInfo): boolean =>
  /audio|voxtral/.test(id) && !JSON.stringify(prices).includes('input_audio_mtok')

/** Chat models with a price. `today`: ISO date, UTC. */
export const publishedModels = (
  list: PriceList,
  find: FindEntry,
  source: PriceSource,
  today: string,
  version: string,
): PublishedModel[] => {
  const models: PublishedModel[] = []
  for (const entry of list.models) {
    const isLeftOut = source.alsoNamed === undefined && !isSold(entry.id, source)
    if (isLeftOut || lacksAudioPrice(entry)) continue
    const published = publishedPrice(entry, today, version)
    if (published === undefined) continue
    const named = namesOf(entry, find, source)
    if (named.names.length > 0)
      models.push(withMovedNames({ ...named, entry, ...published }, source))
  }
  return models
}

const snapshot = /^(.+)[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4}|\d{3}|latest)$/

/** What stands before a date or a version: `gpt-5-nano` of `gpt-5-nano-2025-08-07`. */
export const withoutDate = (name: string): string | undefined => snapshot.exec(name)?.[1]
