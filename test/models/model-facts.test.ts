/** The generated file, as a gateway reads it. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { buildStock } from '../../src/models/build-catalogue.ts'
import { StockCatalogue } from '../../src/models/catalogue.ts'
import { coverageOf } from '../../src/models/coverage.ts'
import { refuseWild } from '../../src/models/facts-guard.ts'
import { toUsd } from '../../src/models/list-price.ts'
import { modelFactsFile } from '../../src/models/model-facts.ts'
import { loadPriceData } from '../../src/models/price-data.ts'
import { configureProviders } from '../../src/providers/configured-provider.ts'
import { providers } from '../../src/providers/registry.ts'

const timeouts = { connectMs: 1, firstByteMs: 1, wholeFirstByteMs: 1, idleMs: 1, totalMs: 1 }
const prices = await loadPriceData()
const stock = buildStock({
  providers: configureProviders(providers, new Map(), timeouts),
  prices,
  nowMs: Date.parse('2026-11-21T00:00:00Z'),
})
const catalogue = new StockCatalogue(stock)

const usd = z.string().regex(/^\d+(\.\d{1,9})?$/)
const Tier = z.strictObject({
  above: z.int().min(0),
  input: usd,
  output: usd,
  cacheRead: usd.optional(),
  cacheWrite: usd.optional(),
})
const File = z.strictObject({
  version: z.string().regex(/^pi-ai@\d+\.\d+\.\d+$/),
  models: z.record(
    z.string(),
    z.strictObject({
      context: z.int().min(256).max(20_000_000).optional(),
      output: z.int().positive().optional(),
      image: z.boolean().optional(),
      tools: z.boolean().optional(),
      reasoning: z.enum(['never', 'asked', 'always']).optional(),
      price: z.tuple([usd, usd]).optional(),
      sold: z.strictObject({ title: z.string().min(1), tiers: z.array(Tier).min(1) }).optional(),
    }),
  ),
})

describe('the file of facts', () => {
  const text = readFileSync(modelFactsFile, 'utf8')

  test('has the shape that a start relies on, in order, a line a model', () => {
    const { models } = File.parse(JSON.parse(text))
    const ids = Object.keys(models)
    expect(ids).toEqual([...ids].sort())
    expect(text.split('\n').length).toBe(ids.length + 3)
    for (const [id, { context, output, sold, price }] of Object.entries(models)) {
      expect(output ?? 0, id).toBeLessThanOrEqual(context ?? Number.MAX_SAFE_INTEGER)
      if (sold) expect([sold.tiers[0]?.input, sold.tiers[0]?.output], id).toEqual(price)
    }
  })

  test('is small, and read quickly', () => {
    expect(text.length).toBeLessThan(250_000)
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now()
      JSON.parse(readFileSync(modelFactsFile, 'utf8'))
      return performance.now() - start
    })
    expect(Math.min(...times)).toBeLessThan(15)
  })

  test('holds the prices that are charged: after a change of prices, `npm run models:update`', () => {
    const now = Object.fromEntries(
      stock.models.map(({ id, price: { tiers } }) => {
        const { input, output } = tiers[0].rates
        return [id, { price: [toUsd(input), toUsd(output)] as const }]
      }),
    )
    expect(refuseWild(now, prices.facts.models)).toEqual([])
    const known = Object.keys(now).filter(id => prices.facts.models[id]?.price)
    expect(known.length).toBeGreaterThan(1000)
  })
})

describe('what is known of what is for sale', () => {
  const { rows, total } = coverageOf(stock.models)

  test('is a price for all, a context window for most, and a maximum output for many', () => {
    const lines = [...rows, total].map(
      ({ provider, models, priced, context, output }) =>
        `${provider.padEnd(12)}${[models, priced, context, output].map(n => `${n}`.padStart(9)).join('')}`,
    )
    console.info(['provider       models   priced  context   output', ...lines].join('\n'))
    expect(total.models).toBeGreaterThanOrEqual(800)
    expect(total.priced).toBe(total.models)
    expect(total.context / total.models).toBeGreaterThan(0.8)
    expect(total.output / total.models).toBeGreaterThan(0.7)
  })

  test('never a free model', () => {
    expect(stock.models.filter(({ id }) => id.endsWith(':free'))).toEqual([])
  })

  test.each([
    ['openai/gpt-4o-mini', 128_000, 16_384, true, false],
    ['openai/gpt-4', 8192, 8192, false, false],
    ['openai/gpt-5', 400_000, 128_000, true, true],
    // The second source has 272000 here, where the price rises; the larger one counts.
    ['openai/gpt-6-sol', 1_050_000, 128_000, true, true],
    ['azure/gpt-4.1', 1_047_576, 32_768, true, false],
    ['anthropic/claude-sonnet-4-5', 200_000, 64_000, true, true],
    ['google/gemini-2.5-pro', 1_048_576, 65_536, true, true],
    ['vertex/gemini-2.5-flash', 1_048_576, 65_536, true, true],
    ['bedrock/amazon.nova-lite-v1:0', 300_000, 10_000, true, false],
    ['mistral/mistral-large-2512', 262_144, 262_144, true, false],
    ['groq/openai/gpt-oss-120b', 131_072, 65_536, false, true],
    ['together/moonshotai/Kimi-K3', 1_048_576, 131_072, true, true],
    ['openrouter/anthropic/claude-sonnet-4.5', 1_000_000, 64_000, true, true],
    ['fireworks/kimi-k3', 1_048_576, 131_072, true, true],
  ])(
    '%s: %d tokens, answers of %d, images %s, reasoning %s',
    (id, context, output, images, reasoning) => {
      expect(catalogue.find(id)).toMatchObject({
        contextWindow: context,
        maxOutputTokens: output,
        inputModalities: images ? ['text', 'image'] : ['text'],
        outputModalities: ['text'],
        supportsTools: true,
        supportsReasoning: reasoning,
      })
    },
  )

  test('another name of the same price has its own limits, where they are known', () => {
    expect(catalogue.find('openrouter/openai/gpt-5.2')?.maxOutputTokens).toBe(128_000)
    expect(catalogue.find('openrouter/openai/gpt-5.2-chat')?.maxOutputTokens).toBe(32_000)
    expect(catalogue.find('openai/gpt-4o-2024-05-13')?.maxOutputTokens).toBe(4096)
  })

  test('what a router’s vendor serves is not held to the model’s own limits', () => {
    expect(catalogue.find('huggingface/Qwen/Qwen3-32B:nebius')).toMatchObject({
      contextWindow: 40_960,
      inputModalities: null,
      supportsTools: null,
    })
  })
})

describe('models that only the second source has', () => {
  test.each([
    ['together/moonshotai/Kimi-K3', [[0, '3', '0.3', '3', '15']]],
    ['baseten/zai-org/GLM-5.3-Fast', [[0, '2.1', '0.21', '2.1', '6.6']]],
    [
      'openrouter/x-ai/grok-4.7',
      [
        [0, '2', '0.5', '2', '6'],
        [200_000, '4', '1', '4', '12'],
      ],
    ],
  ])('%s is sold at its price', (id, tiers) => {
    const price = catalogue.find(id)?.price
    expect(price?.version).toBe('pi-ai@1.5.2')
    expect(
      price?.tiers.map(({ abovePromptTokens, rates }) => [
        abovePromptTokens,
        ...[rates.input, rates.cacheRead, rates.cacheWrite, rates.output].map(toUsd),
      ]),
    ).toEqual(tiers)
  })

  test('give way to a published price', () => {
    const versions = stock.models.map(({ price }) => price.version.replace(/@.*/, ''))
    expect(new Set(versions)).toEqual(new Set(['genai-prices', 'pi-ai', 'demo']))
    const ids = [...stock.models.map(({ id }) => id), ...stock.aliases.keys()]
    expect(new Set(ids).size).toBe(ids.length)
  })
})
