import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { priceFromList, publishedToNanoUsd, toNanoUsd } from '../../src/models/list-price.ts'

test.each([
  ['0', 0n],
  ['2.50', 2_500_000_000n],
  ['0.000000001', 1n],
  ['999999999.999999999', 999_999_999_999_999_999n],
  ['0.18', 180_000_000n],
])('%s USD is %s nano-USD', (usd, nano) => {
  expect(toNanoUsd(usd)).toBe(nano)
})

test.each([
  '',
  '.5',
  '5.',
  '-1',
  '+1',
  '1e3',
  ' 1',
  '1,5',
  '0x1',
  '1.1234567890',
  '1234567890',
  'NaN',
])('refuses %j as an amount', usd => {
  expect(() => toNanoUsd(usd)).toThrow(RangeError)
})

test('any amount survives the trip through its decimal', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), nano => {
      const digits = nano.toString().padStart(10, '0')
      expect(toNanoUsd(`${digits.slice(0, -9)}.${digits.slice(-9)}`)).toBe(nano)
    }),
  )
})

test.each([
  [0.1 + 0.08, 180_000_000n], // 0.18000000000000002
  [0.08333333333333334, 83_333_333n],
  [0.0028, 2_800_000n],
  [0.003625, 3_625_000n],
  [180, 180_000_000_000n],
])('the published %d is %s nano-USD', (usd, nano) => {
  expect(publishedToNanoUsd(usd)).toBe(nano)
})

test('a fee per thousand is nano-USD each', () => {
  expect(publishedToNanoUsd(12, 1000)).toBe(12_000_000n)
  expect(publishedToNanoUsd(2.5, 1000)).toBe(2_500_000n)
})

test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e21])('refuses the published %d', usd => {
  expect(() => publishedToNanoUsd(usd)).toThrow(RangeError)
})

describe('a rate that is not given', () => {
  test('is that of its like', () => {
    const { tiers, fees } = priceFromList({ input: '1', output: '2' }, 'v')
    expect(tiers).toEqual([
      {
        abovePromptTokens: 0,
        rates: {
          input: 1_000_000_000n,
          cacheRead: 1_000_000_000n,
          cacheWrite: 1_000_000_000n,
          cacheWrite1h: 1_000_000_000n,
          inputAudio: 1_000_000_000n,
          cacheReadAudio: 1_000_000_000n,
          output: 2_000_000_000n,
          outputAudio: 2_000_000_000n,
        },
      },
    ])
    expect(fees).toEqual({})
  })

  test('follows the nearest that is', () => {
    const list = {
      input: '1',
      output: '2',
      cacheWrite: '3',
      inputAudio: '4',
      fees: { request: '0.005' },
    }
    const { tiers, fees } = priceFromList(list, 'v')
    expect(tiers[0].rates).toMatchObject({
      cacheWrite1h: 3_000_000_000n,
      cacheReadAudio: 4_000_000_000n,
    })
    expect(fees).toEqual({ request: 5_000_000n })
  })
})
