import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { buildStock } from '../../src/models/build-catalogue.ts'
import { StockCatalogue } from '../../src/models/catalogue.ts'
import { loadPriceData } from '../../src/models/price-data.ts'
import { configureProviders } from '../../src/providers/configured-provider.ts'
import { parseOperatorFile } from '../../src/providers/operator-file.ts'
import { providers } from '../../src/providers/registry.ts'

const timeouts = { connectMs: 1, firstByteMs: 1, wholeFirstByteMs: 1, idleMs: 1, totalMs: 1 }
const prices = await loadPriceData()
const nowMs = Date.parse('2026-11-20T00:00:00Z')

const price = { input: '0.10', output: '0.20' }
const fileWith = (...entries: unknown[]) =>
  parseOperatorFile(JSON.stringify({ providers: entries }), providers, {})

const stockOf = (keys: readonly string[], file = fileWith()) => {
  const settings = new Map(keys.map(id => [id, { apiKeys: ['k'], baseUrl: null, timeouts }]))
  return buildStock({
    providers: configureProviders([...providers, ...file.providers], settings, timeouts, file),
    prices,
    file,
    nowMs,
  })
}
const catalogue = new StockCatalogue(stockOf(['openai', 'openrouter', 'fireworks']))

const refusal = (id: string, from = catalogue): GatewayError => {
  try {
    from.resolve(id)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error(`${id} was resolved`)
}

describe('what is for sale', () => {
  test('is more than 200 models, each with a rate for every class', () => {
    const all = catalogue.list({ all: true })
    expect(all.length).toBeGreaterThan(900)
    for (const { id, price, provider } of all) {
      expect(id.startsWith(`${provider.provider.id}/`), id).toBe(true)
      for (const { rates } of price.tiers) {
        expect(
          Object.values(rates).every(rate => rate > 0n),
          id,
        ).toBe(true)
      }
      const starts = price.tiers.map(tier => tier.abovePromptTokens)
      expect(starts, id).toEqual([...starts].sort((a, b) => a - b))
      expect(starts[0]).toBe(0)
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  })

  test.each([
    'openai/text-embedding-3-small',
    'openai/whisper-1',
    'openai/gpt-4o-mini-tts',
    'openai/gpt-image-1',
    'openai/gpt-realtime',
    'openai/gpt-4o-transcribe',
    'openai/omni-moderation-latest',
    'openai/davinci',
    'openai/gpt-3.5-turbo-instruct',
    'openai/o3-deep-research',
    'openai/codex-mini-latest',
    'openai/gpt-4o-search-preview',
    'openai/gpt-4o-audio-preview',
    'openai/gpt-5.1-mini',
    'groq/whisper-large-v3',
    'cloudflare/@cf/baai/bge-m3',
    'mistral/mistral-embed',
    'mistral/mistral-ocr-latest',
    'perplexity/sonar-deep-research',
    'openrouter/perplexity/sonar',
    'openrouter/deepseek/deepseek-r1:free',
    'huggingface/Qwen/Qwen3-32B',
  ])('is not %s', id => {
    expect(catalogue.find(id)).toBeUndefined()
  })

  test('is listed by its providers that have a credential, with the others on request', () => {
    const ids = (filter?: Parameters<typeof catalogue.list>[0]) => [
      ...new Set(catalogue.list(filter).map(({ provider }) => provider.provider.id)),
    ]
    expect(ids()).toEqual(['openai', 'fireworks', 'openrouter', 'demo'])
    expect(ids({ all: true })).toContain('groq')
    expect(ids({ provider: 'groq' })).toEqual([])
    expect(ids({ provider: 'groq', all: true })).toEqual(['groq'])
  })

  test('is searched by words in any case and order', () => {
    const found = catalogue.list({ query: ' MINI  gpt-4O ', provider: 'openai' })
    expect(found.map(({ id }) => id)).toEqual(['openai/gpt-4o-mini'])
    expect(catalogue.list({ query: 'nothing-like-it' })).toEqual([])
  })
})

describe('resolve', () => {
  test.each([
    ['openai/gpt-4o', 'gpt-4o'],
    ['openai/gpt-4o-2024-11-20', 'gpt-4o-2024-11-20'],
    ['openai/gpt-4o:floor', 'gpt-4o'],
    ['openai/gpt-4o:nitro', 'gpt-4o'],
    ['openai/gpt-5-nano-2025-08-07', 'gpt-5-nano-2025-08-07'],
    ['openai/gpt-5.6-sol-2026-07-01', 'gpt-5.6-sol-2026-07-01'],
    ['openrouter/meta-llama/llama-3.3-70b-instruct', 'meta-llama/llama-3.3-70b-instruct'],
    ['openrouter/qwen/qwen-plus-2025-07-28:thinking', 'qwen/qwen-plus-2025-07-28:thinking'],
    ['fireworks/kimi-k3', 'accounts/fireworks/models/kimi-k3'],
    ['fireworks/accounts/fireworks/models/kimi-k3', 'accounts/fireworks/models/kimi-k3'],
    ['demo/echo', 'echo'],
  ])('%s asks the provider for %s', (id, upstreamModel) => {
    expect(catalogue.resolve(id).upstreamModel).toBe(upstreamModel)
  })

  test('a dated snapshot has the price and the facts of its model', () => {
    const { id, upstreamModel, ...dated } = catalogue.resolve('openai/gpt-5-nano-2031-01-01')
    const { id: _, upstreamModel: __, ...model } = catalogue.resolve('openai/gpt-5-nano')
    expect(id).toBe('openai/gpt-5-nano-2031-01-01')
    expect(dated).toEqual(model)
    expect(catalogue.resolve(id)).toBe(catalogue.resolve(id))
  })

  test('takes no more than dates and versions for a snapshot', () => {
    for (const name of [
      'gpt-5-nano-fast',
      'gpt-5-nano-2025-08-07-x',
      'gpt-5-nano-',
      'gpt-4o-2024-11-21',
    ]) {
      expect(refusal(`openai/${name}`).code).toBe('model_not_found')
    }
  })

  test('stays correct after more snapshots than it remembers', () => {
    for (let i = 0; i < 2500; i++) {
      const id = `openai/gpt-5-nano-${String(i).padStart(4, '0')}`
      expect(catalogue.resolve(id).id).toBe(id)
    }
  })

  test.each([
    '',
    'gpt-4o',
    '/gpt-4o',
    'openai/',
    '/',
    'openai/gpt\n4o',
    'openai/\u0000',
    'a/b\u0085',
  ])('refuses %j as no model id', id => {
    const { code, status, param } = refusal(id)
    expect({ code, status, param }).toEqual({
      code: 'invalid_model_id',
      status: 400,
      param: 'model',
    })
  })

  test.each([
    ['openai/gtp-4o', 'openai/gpt-4o'],
    ['openai/gpt4o-mini', 'openai/gpt-4o-mini'],
    ['OpenAI/GPT-4o', 'openai/gpt-4o'],
    ['openai/gpt-4o-mni:floor', 'openai/gpt-4o-mini'],
    ['anthropic/claude-sonnet-4.5', 'openrouter/anthropic/claude-sonnet-4.5'],
  ])('names what is nearest to %s', (wrong, nearest) => {
    const { code, status, metadata, message } = refusal(wrong)
    expect({ code, status }).toEqual({ code: 'model_not_found', status: 404 })
    expect(metadata?.nearest).toContain(nearest)
    expect([metadata?.nearest].flat().length).toBeLessThanOrEqual(5)
    expect(message).toContain(nearest)
  })

  test('tells the log, not the client, what an unavailable model lacks', () => {
    const found = refusal('groq/llama-3.1-8b-instant')
    expect(found.code).toBe('model_not_found')
    expect(found.internal).toContain('GROQ_API_KEY is not set')
    expect(JSON.stringify(found.toBody())).not.toMatch(/GROQ|groq\/llama[^"]*" is/)
    expect(found.metadata?.nearest).not.toContain('groq/llama-3.1-8b-instant')
    const placed = new StockCatalogue(stockOf(['cloudflare']))
    expect(refusal('cloudflare/@cf/qwen/qwq-32b', placed).internal).toContain(
      'base URL of cloudflare',
    )
  })

  test('is not slowed or filled by what a client makes up', () => {
    const started = performance.now()
    for (let i = 0; i < 200; i++) refusal(`openai/${'gpt-4o-mini-'.repeat(40)}${i}`)
    expect((performance.now() - started) / 200).toBeLessThan(10)
    expect(refusal(`openai/${'x'.repeat(5000)}`).message.length).toBeLessThan(300)
  })
})

describe('the operator’s file', () => {
  const acme = { id: 'acme', base_url: 'http://gpu/v1', models: [{ id: 'llama', price }] }

  test('adds models, free ones too, and prices others anew', () => {
    const file = fileWith(acme, {
      id: 'openai',
      models: [
        { id: 'gpt-4o', price },
        { id: 'ft:gpt-4o:me::1', price: { input: '0', output: '0' } },
      ],
    })
    const own = new StockCatalogue(stockOf(['openai'], file))
    expect(own.resolve('acme/llama').provider.origin).toBe('http://gpu')
    const { price: found } = own.resolve('openai/gpt-4o')
    expect(found.version).toBe(file.version)
    expect(found.tiers[0].rates.input).toBe(100_000_000n)
    expect(own.resolve('openai/ft:gpt-4o:me::1').price.tiers[0].rates.output).toBe(0n)
    expect(own.resolve('openai/gpt-4o-mini').price.version).toBe('genai-prices@0.1.8')
  })

  test('replaces an alias of the list as well', () => {
    const file = fileWith({ id: 'openai', models: [{ id: 'gpt-4o-2024-11-20', price }] })
    const own = new StockCatalogue(stockOf(['openai'], file))
    expect(own.resolve('openai/gpt-4o-2024-11-20').price.version).toBe(file.version)
  })

  test('is taken anew while the gateway runs', () => {
    const live = new StockCatalogue(stockOf(['openai']))
    expect(refusal('acme/llama', live).code).toBe('model_not_found')
    live.replace(stockOf(['openai'], fileWith(acme)))
    expect(live.resolve('acme/llama').upstreamModel).toBe('llama')
    live.replace(stockOf(['openai']))
    expect(refusal('acme/llama', live).code).toBe('model_not_found')
  })

  test('that no longer holds leaves the catalogue as it is', () => {
    const live = new StockCatalogue(stockOf([], fileWith(acme)))
    expect(() => live.replace(stockOf([], fileWith({ id: 'acme' })))).toThrow()
    expect(live.resolve('acme/llama').upstreamModel).toBe('llama')
  })
})

test('a known change of a price is announced', () => {
  const soon = { ...prices.lists.find(({ id }) => id === 'openai')! }
  soon.models = soon.models.map(model =>
    model.id === 'gpt-4o'
      ? {
          ...model,
          prices: [
            { prices: { input_mtok: 2.5, output_mtok: 10 } },
            {
              constraint: { type: 'start_date', start_date: '2026-12-15' },
              prices: { input_mtok: 3, output_mtok: 12 },
            },
          ],
        }
      : model,
  )
  const lists = prices.lists.map(list => (list.id === 'openai' ? soon : list))
  const configured = configureProviders(providers, new Map(), timeouts)
  const at = (nowMs: number) =>
    buildStock({ providers: configured, prices: { ...prices, lists }, nowMs })
  expect(new StockCatalogue(at(nowMs)).nextPriceChange).toBe('2026-12-15')
  const later = new StockCatalogue(at(Date.parse('2026-12-15')))
  expect(later.find('openai/gpt-4o')?.price.tiers[0].rates.input).toBe(3_000_000_000n)
})
