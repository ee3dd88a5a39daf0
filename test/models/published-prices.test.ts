/** Every published price as ours, held against the library's own arithmetic. */
import { calcPrice } from '@pydantic/genai-prices'
import { describe, expect, test } from 'vitest'
import { buildStock } from '../../src/models/build-catalogue.ts'
import { StockCatalogue } from '../../src/models/catalogue.ts'
import type { Model } from '../../src/models/model.ts'
import { loadPriceData } from '../../src/models/price-data.ts'
import { appliedRates } from '../../src/models/pricing.ts'
import { publishedPrice } from '../../src/models/published-price.ts'
import { configureProviders } from '../../src/providers/configured-provider.ts'
import { providers } from '../../src/providers/registry.ts'
import { type TokenClass, tokenClasses } from '../../src/wire/usage.ts'

const timeouts = { connectMs: 1, firstByteMs: 1, wholeFirstByteMs: 1, idleMs: 1, totalMs: 1 }
const prices = await loadPriceData()
const now = new Date('2026-11-20T00:10:00Z')
const stock = buildStock({
  providers: configureProviders(providers, new Map(), timeouts),
  prices,
  nowMs: now.getTime(),
})
const catalogue = new StockCatalogue(stock)

type Tokens = { [K in TokenClass]?: number }

/** USD, in floats: only to be held against the library's floats. */
const ours = (model: Model, tokens: Tokens): number => {
  const prompt = tokenClasses.filter(name => !name.startsWith('output'))
  const promptTokens = prompt.reduce((sum, name) => sum + (tokens[name] ?? 0), 0)
  const { rates, fees } = appliedRates(model.price, promptTokens, 0)
  let nano = (fees.request ?? 0n) * 1_000_000n
  for (const name of tokenClasses) nano += rates[name] * BigInt(tokens[name] ?? 0)
  return Number(nano) / 1e15
}

const theirs = (provider: string, name: string, tokens: Tokens, timestamp = now) => {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = tokens
  const usage = {
    input_tokens: input + cacheRead + cacheWrite,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_tokens: output,
  }
  return calcPrice(usage, name, { providerId: provider, timestamp })
}

const samples: Tokens[] = [
  { input: 1000, output: 500 },
  { input: 150_000, cacheRead: 40_000, cacheWrite: 9000, output: 4000 },
  { input: 199_999, output: 1 },
  { input: 200_000, output: 1 },
  { input: 200_001, output: 1 },
  { input: 271_999, output: 100 },
  { input: 272_000, output: 100 },
  { input: 250_000, cacheRead: 30_000, output: 100 },
  { input: 900_000, cacheRead: 100_000, output: 60_000 },
]

const published = providers.flatMap(provider =>
  'priceSources' in provider
    ? provider.priceSources.map(source => ({ id: provider.id, source }))
    : [],
)

/** What the library is asked by: names without the ending that only the router needs. */
const sourced = (model: Model) => {
  const { id } = model.provider.provider
  const name = model.id.slice(id.length + 1)
  const source = published.find(
    one => one.id === id && (!one.source.suffix || name.endsWith(one.source.suffix)),
  )?.source
  const bare = name.slice(0, name.length - (source?.suffix?.length ?? 0))
  // The second source's prices are held against its own figures, in join-facts.test.ts.
  const isTheirs = model.price.version === prices.version
  return source && isTheirs && { list: source.id, name: source.sameAs?.[bare] ?? bare, model }
}

/** Priced by the hour: the library bills the hour, we the dearest one. */
const byHour = prices.lists.flatMap(({ id, models }) =>
  models
    .filter(({ prices }) => JSON.stringify(prices).includes('time_of_date'))
    .map(model => `${id}/${model.id}`),
)

/** Where the list has an older model's price, and ours is today's. */
const moved = published.flatMap(({ id, source }) =>
  Object.keys('sameAs' in source ? source.sameAs : {}).map(name => `${id}/${name}`),
)

describe('our charge is the library’s', () => {
  const all = [...stock.models, ...stock.aliases.values()].flatMap(model => sourced(model) || [])

  test('for every model and alias, at every tier', () => {
    const differences: string[] = []
    let compared = 0
    for (const { list, name, model } of all.filter(({ model }) => !moved.includes(model.id))) {
      // Labels and dated prefixes that the rule itself doesn't take have no price there by that name.
      const asked =
        model.upstreamModel === name || model.id.includes(':') ? name : model.upstreamModel
      for (const tokens of samples) {
        const expected = theirs(list, asked, tokens)
        if (!expected || byHour.includes(`${list}/${expected.model.id}`)) continue
        compared++
        const charge = ours(model, tokens)
        if (Math.abs(charge - expected.total_price) <= 1e-9 * expected.total_price) continue
        differences.push(`${model.id} ${JSON.stringify(tokens)}: ${charge} ${expected.total_price}`)
      }
    }
    expect(compared).toBeGreaterThan(9000)
    expect(differences).toEqual([])
  })

  test('but for a price by the hour, which is its dearest', () => {
    const tokens = { input: 1e6, cacheRead: 1e6, output: 1e6 }
    const models = all.filter(({ list, name }) => byHour.includes(`${list}/${name}`))
    expect(models.map(({ name }) => name)).toEqual([
      'deepseek-chat',
      'deepseek-reasoner',
      'deepseek-v4-flash',
      'deepseek-v4-pro',
    ])
    for (const { list, name, model } of models) {
      const hours = Array.from({ length: 24 }, (_, hour) => {
        const at = new Date(`2026-11-20T${String(hour).padStart(2, '0')}:45:00Z`)
        return theirs(list, name, tokens, at)?.total_price ?? Number.NaN
      })
      expect(ours(model, tokens)).toBeCloseTo(Math.max(...hours), 9)
      expect(new Set(hours).size).toBeGreaterThan(1)
    }
  })

  test('but for names that stand for a newer model than the list knows', () => {
    expect(moved).toEqual(['mistral/mistral-large-latest', 'mistral/mistral-small-latest'])
  })

  test('and every model has the entry that the library prices it by', () => {
    const unknown = all.filter(({ list, name, model }) => {
      const bare = model.id.includes(':') ? name : model.upstreamModel
      return theirs(list, bare, { input: 1 }) === null
    })
    expect(unknown.map(({ model }) => model.id)).toEqual([])
  })
})

describe('known prices', () => {
  const usd = (rate: bigint | undefined) => Number(rate) / 1e9
  test.each([
    ['openai/gpt-4o', 2.5, 1.25, 10],
    ['openai/gpt-4o-2024-05-13', 5, 5, 15],
    ['openai/gpt-4o-mini', 0.15, 0.075, 0.6],
    ['openai/gpt-4.1', 2, 0.5, 8],
    ['openai/gpt-5', 1.25, 0.125, 10],
    ['openai/o3', 2, 0.5, 8],
    ['deepseek/deepseek-chat', 0.27, 0.07, 1.1],
    ['xai/grok-4', 3, 0.75, 15],
    ['mistral/mistral-large-2512', 0.5, 0.05, 1.5],
    ['mistral/mistral-large-latest', 0.5, 0.05, 1.5],
    ['mistral/mistral-small-latest', 0.15, 0.015, 0.6],
    ['groq/openai/gpt-oss-120b', 0.15, 0.075, 0.6],
    ['together/meta-llama/Llama-3.3-70B-Instruct-Turbo', 0.88, 0.88, 0.88],
    ['openrouter/anthropic/claude-sonnet-4.5', 3, 0.3, 15],
    ['huggingface/Qwen/Qwen3-32B:nebius', 0.1, 0.1, 0.3],
  ])('%s: %d in, %d cached, %d out', (id, input, cacheRead, output) => {
    const price = catalogue.find(id)?.price
    expect(price?.version).toBe('genai-prices@0.1.8')
    const rates = price?.tiers[0].rates
    expect([usd(rates?.input), usd(rates?.cacheRead), usd(rates?.output)]).toEqual([
      input,
      cacheRead,
      output,
    ])
  })

  test('a tier begins one token above its threshold', () => {
    const price = catalogue.find('openai/gpt-5.4')?.price
    expect(price?.tiers.map(tier => [tier.abovePromptTokens, usd(tier.rates.input)])).toEqual([
      [0, 2.5],
      [271_999, 5],
    ])
  })

  test('Perplexity has a fee for each request', () => {
    expect(catalogue.find('perplexity/sonar')?.price.fees).toEqual({ request: 12_000_000n })
  })

  test('audio has its own rates', () => {
    const rates = catalogue.find('openai/gpt-audio')?.price.tiers[0].rates
    expect([usd(rates?.inputAudio), usd(rates?.outputAudio)]).toEqual([32, 64])
  })
})

describe('a dated price', () => {
  const entry = {
    id: 'm',
    match: { equals: 'm' },
    prices: [
      { prices: { input_mtok: 1, output_mtok: 2 } },
      {
        constraint: { type: 'start_date' as const, start_date: '2026-03-01' },
        prices: { input_mtok: 3, output_mtok: 4 },
      },
      {
        constraint: { type: 'start_date' as const, start_date: '2027-01-01' },
        prices: { input_mtok: 5, output_mtok: 6 },
      },
    ],
  }
  test.each([
    ['2026-02-28', 1, null, '2026-03-01'],
    ['2026-03-01', 3, '2026-03-01', '2027-01-01'],
    ['2027-01-01', 5, '2027-01-01', null],
  ])('on %s is %d', (today, input, effectiveFrom, nextChange) => {
    const found = publishedPrice(entry, today, 'v')
    expect(Number(found?.price.tiers[0].rates.input) / 1e9).toBe(input)
    expect(found?.price.effectiveFrom).toBe(effectiveFrom)
    expect(found?.nextChange).toBe(nextChange)
  })
})

describe('not for sale is', () => {
  test.each([
    ['without an output price', { input_mtok: 1 }],
    ['without any price', {}],
    ['for nothing', { input_mtok: 0, output_mtok: 0 }],
    ['by a unit that is not metered', { input_mtok: 1, output_mtok: 2, output_image_mtok: 30 }],
    ['by the hour of audio', { audio_hours: 1 }],
  ])('what is priced %s', (_, figures) => {
    expect(
      publishedPrice({ id: 'm', match: { equals: 'm' }, prices: figures }, '2026-11-20', 'v'),
    ).toBeUndefined()
  })
})
