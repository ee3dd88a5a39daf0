/** One model's entry in genai-prices as an integer price, or the reason why it can't be sold by it. */
import type { ConditionalPrice, ModelInfo, ModelPrice, TieredPrices } from '@pydantic/genai-prices'
import { tokenClasses } from '../wire/usage.ts'
import { completeRates, publishedToNanoUsd } from './list-price.ts'
import type { Price, PriceTier, Rates } from './price.ts'

const classByKey: Readonly<Record<string, keyof Rates>> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite',
  cache_write_1h_mtok: 'cacheWrite1h',
  input_audio_mtok: 'inputAudio',
  cache_audio_read_mtok: 'cacheReadAudio',
  output_audio_mtok: 'outputAudio',
}

const feeByKey: Readonly<Record<string, 'request' | 'webSearch'>> = {
  requests_kcount: 'request',
  web_searches_kcount: 'webSearch',
}

/** Billed only for a hosted tool that the gateway refuses. */
const neverUsed = new Set(['storage_searches_kcount'])

type InEffect = { prices: ModelPrice[]; effectiveFrom: string | null; nextChange: string | null }

/**
 * The prices that may apply today: the dated one in effect, and those of any hour of the day. A price by the hour is
 * billed at its dearest all day, since the provider's clock decides and an answer may run into the next hour.
 */
const inEffect = (entry: ModelInfo, today: string): InEffect => {
  if (!Array.isArray(entry.prices))
    return { prices: [entry.prices], effectiveFrom: null, nextChange: null }
  const prices: ModelPrice[] = []
  let nextChange: string | null = null
  // Later entries override earlier ones, as the library reads them.
  for (const { constraint, prices: figures } of entry.prices.toReversed() as ConditionalPrice[]) {
    if (constraint?.type === 'start_date' && constraint.start_date > today) {
      nextChange = constraint.start_date
      continue
    }
    prices.push(figures)
    if (constraint === undefined) break
    if (constraint.type === 'start_date')
      return { prices, effectiveFrom: constraint.start_date, nextChange }
  }
  return { prices, effectiveFrom: null, nextChange }
}

const rateAbove = (price: number | TieredPrices, promptTokens: number): bigint => {
  if (typeof price === 'number') return publishedToNanoUsd(price)
  let usd = price.base
  for (const tier of price.tiers) if (promptTokens >= tier.start) usd = tier.price
  return publishedToNanoUsd(usd)
}

const tierStarts = (prices: readonly ModelPrice[]): number[] => {
  const starts = new Set([0])
  for (const price of prices.flatMap(figures => Object.values(figures))) {
    if (typeof price === 'object') for (const { start } of price.tiers) starts.add(start)
  }
  return [...starts].sort((a, b) => a - b)
}

const dearest = (all: readonly Rates[]): Rates => {
  const [first, ...others] = all
  if (first === undefined) throw new RangeError('no price in effect')
  const rates: { -readonly [K in keyof Rates]: bigint } = { ...first }
  for (const other of others) {
    for (const name of tokenClasses) {
      if (other[name] > rates[name]) rates[name] = other[name]
    }
  }
  return rates
}

const ratesAbove = (figures: ModelPrice, promptTokens: number): Rates => {
  const given: { -readonly [K in keyof Rates]?: bigint } = {}
  for (const [key, price] of Object.entries(figures)) {
    const name = classByKey[key]
    if (name !== undefined && price !== undefined) given[name] = rateAbove(price, promptTokens)
  }
  const { input, output } = given
  if (input === undefined || output === undefined) throw new RangeError('no price in effect')
  return completeRates({ ...given, input, output })
}

/** Priced for a chat: input and output above 0, and nothing billed by a unit that the gateway does not meter. */
const isSellable = (figures: ModelPrice): boolean => {
  for (const [key, price] of Object.entries(figures)) {
    if (price === undefined || neverUsed.has(key)) continue
    if (classByKey[key] === undefined && feeByKey[key] === undefined) return false
  }
  return [figures.input_mtok, figures.output_mtok].every(
    price => price !== undefined && rateAbove(price, 0) > 0n,
  )
}

const feesOf = (all: readonly ModelPrice[]): Price['fees'] => {
  const fees: { request?: bigint; webSearch?: bigint } = {}
  for (const [key, price] of all.flatMap(figures => Object.entries(figures))) {
    const name = feeByKey[key]
    if (name === undefined || typeof price !== 'number') continue
    const fee = publishedToNanoUsd(price, 1000)
    if (fee > (fees[name] ?? -1n)) fees[name] = fee
  }
  return fees
}

export type PublishedPrice = {
  price: Price
  /** The day (ISO, UTC) from which another price holds; `null` where none is announced. */
  nextChange: string | null
}

/** `undefined` where the model is not for sale by this entry. `today`: ISO date, UTC. */
export const publishedPrice = (
  entry: ModelInfo,
  today: string,
  version: string,
): PublishedPrice | undefined => {
  const { prices, effectiveFrom, nextChange } = inEffect(entry, today)
  if (prices.length === 0 || !prices.every(isSellable)) return undefined
  const tiers = tierStarts(prices).map(
    (start): PriceTier => ({
      abovePromptTokens: start,
      rates: dearest(prices.map(figures => ratesAbove(figures, start))),
    }),
  )
  const [first, ...more] = tiers
  if (first === undefined) return undefined
  return {
    price: { version, effectiveFrom, tiers: [first, ...more], fees: feesOf(prices) },
    nextChange,
  }
}
