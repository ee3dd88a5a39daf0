/** The join that an update makes, on lists of our own in the second source's shape. */
import { describe, expect, test } from 'vitest'
import { buildStock } from '../../src/models/build-catalogue.ts'
import { parseFactsList } from '../../src/models/facts-lists.ts'
import { joinFacts } from '../../src/models/join-facts.ts'
import { noFacts } from '../../src/models/model-facts.ts'
import { loadPriceData } from '../../src/models/price-data.ts'
import { configureProviders } from '../../src/providers/configured-provider.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/registry.ts'

const timeouts = { connectMs: 1, firstByteMs: 1, wholeFirstByteMs: 1, idleMs: 1, totalMs: 1 }
const prices = { ...(await loadPriceData()), facts: noFacts }
const [openai] = providers
const nowMs = Date.parse('2026-11-21T00:00:00Z')

/** `first` is known by its list in genai-prices, `second` only by the second source. */
const first: Provider = { ...openai!, id: 'first', factsSource: { lists: ['one'] } }
const second: Provider = {
  ...openai!,
  id: 'second',
  priceSources: [],
  factsSource: { lists: ['two'], sellsExcept: /:free$|-batch$/ },
}

const entry = (id: string, more: object = {}) => ({
  type: 'chat',
  id,
  name: id.toUpperCase(),
  reasoning: false,
  input: ['text'],
  cost: { input: 2.5, output: 10, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 128_000,
  maxTokens: 16_384,
  ...more,
})
const list = (...entries: { type: string; id: string }[]) =>
  parseFactsList(
    JSON.stringify({ api: Object.fromEntries(entries.map(one => [`${one.type}:${one.id}`, one])) }),
  )

const join = (lists: Record<string, ReturnType<typeof list>>) => {
  const known = [first, second]
  const stock = buildStock({
    providers: configureProviders(known, new Map(), timeouts),
    prices,
    nowMs,
  })
  return joinFacts(stock, known, new Map(Object.entries(lists)))
}

describe('facts', () => {
  test('are those of the provider’s own list, the larger context counting', () => {
    const { models } = join({
      one: list(
        entry('gpt-4o', { input: ['text', 'image'] }),
        entry('gpt-4.1', { contextWindow: 1_047_576, maxTokens: 32_768 }),
        entry('gpt-5', {
          contextWindow: 272_000,
          reasoning: true,
          thinkingLevelMap: { off: null },
        }),
        entry('o3', { contextWindow: 200_000, reasoning: true }),
      ),
    })
    expect(models['first/gpt-4o']).toEqual({
      context: 128_000,
      output: 16_384,
      image: true,
      tools: true,
      reasoning: 'never',
      price: ['2.5', '10'],
    })
    expect(models['first/gpt-4.1']).toMatchObject({ context: 1_047_576, image: false })
    expect(models['first/gpt-5']).toMatchObject({ context: 400_000, reasoning: 'always' })
    expect(models['first/o3']).toMatchObject({ reasoning: 'asked' })
  })

  test('leave out a maximum output that stands for none', () => {
    const { models } = join({
      one: list(entry('o1', { maxTokens: 4096 }), entry('gpt-5', { maxTokens: 115_200 })),
    })
    // What the maker's names tell stands in.
    expect(models['first/o1']).toMatchObject({ output: 100_000 })
    expect(models['first/gpt-5']).toMatchObject({ output: 128_000 })
  })

  test('are borrowed from others of the same name, but never that it takes no images', () => {
    const { models } = join({
      elsewhere: list(
        entry('maker/GPT-4.1-mini', { contextWindow: 2_000_000, maxTokens: 64_000 }),
        entry('maker/o4-mini', { input: ['text', 'image'], reasoning: true }),
      ),
    })
    expect(models['first/gpt-4.1-mini']).toEqual({
      context: 1_000_000,
      output: 32_768,
      reasoning: 'never',
      price: ['0.4', '1.6'],
    })
    expect(models['first/o4-mini']).toMatchObject({ image: true, reasoning: 'asked' })
    expect(models['first/o4-mini']).not.toHaveProperty('tools')
  })
})

describe('prices', () => {
  const sold = (more: object = {}) => join({ two: list(entry('maker/new', more)) })

  test('of the second source sell what it alone has, exactly', () => {
    const { models } = sold({
      cost: {
        input: 0.1 + 0.2,
        output: 1.05,
        cacheRead: 0.000_01,
        cacheWrite: 0.375,
        tiers: [
          { inputTokensAbove: 200_000, input: 0.6, output: 2.1, cacheRead: 0, cacheWrite: 0 },
        ],
      },
    })
    expect(models['second/maker/new']).toMatchObject({
      price: ['0.3', '1.05'],
      sold: {
        title: 'MAKER/NEW',
        tiers: [
          { above: 0, input: '0.3', output: '1.05', cacheRead: '0.00001', cacheWrite: '0.375' },
          { above: 200_000, input: '0.6', output: '2.1' },
        ],
      },
    })
  })

  test.each([
    ['a free one', { cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
    [
      'one with no price for the answer',
      { cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 } },
    ],
    ['one that the provider’s file leaves out', { id: 'maker/new-batch' }],
    ['one that speaks', { id: 'maker/new-audio' }],
    ['one that is no chat', { id: 'maker/new-embed' }],
  ])('sell not %s', (_, more) => {
    const { models } = sold(more)
    expect(Object.keys(models).filter(id => id.startsWith('second/'))).toEqual([])
  })

  test('are doubted where others take far more, or a class does not fit the other', () => {
    const { models, doubtful } = join({
      two: list(
        entry('maker/cheap', { cost: { input: 0.1, output: 1, cacheRead: 0, cacheWrite: 0 } }),
        entry('maker/odd', { cost: { input: 0.006, output: 0.5, cacheRead: 0, cacheWrite: 0 } }),
        entry('maker/right'),
      ),
      elsewhere: list(entry('cheap'), entry('x/cheap'), entry('right')),
    })
    expect(doubtful).toEqual(['second/maker/cheap', 'second/maker/odd'])
    expect(Object.keys(models).filter(id => id.startsWith('second/'))).toEqual([
      'second/maker/right',
    ])
  })

  test('that both have are compared, and the published one stays', () => {
    const cost = { input: 2.5, output: 10.2, cacheRead: 1.25, cacheWrite: 0 }
    const { models, disagreements } = join({ one: list(entry('gpt-4o', { cost })) })
    expect(disagreements).toEqual([
      { id: 'first/gpt-4o', what: 'output', ours: '10', theirs: '10.2' },
    ])
    expect(models['first/gpt-4o']).not.toHaveProperty('sold')
  })
})

test('a list of another shape is refused', () => {
  expect(() => list(entry('a', { contextWindow: 'long' }))).toThrow()
  expect(list({ ...entry('a'), type: 'image' }).size).toBe(0)
})
