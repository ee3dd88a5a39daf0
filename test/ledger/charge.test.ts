import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chargeOf } from '../../src/ledger/charge.ts'
import type { AppliedRates } from '../../src/ledger/receipt.ts'

const at = (
  rates: AppliedRates['rates'],
  markupBasisPoints = 0,
  fees: AppliedRates['fees'] = {},
): AppliedRates => ({
  ...{ version: 'test', effectiveFrom: null, rates, fees, markupBasisPoints },
})

test('multiplies tokens by rates and counts by fees', () => {
  const applied = at({ input: 150_000_000n, output: 600_000_000n }, 0, { request: 5_000_000n })
  expect(chargeOf({ tokens: { input: 1000, output: 300 }, counts: { request: 2 } }, applied)).toBe(
    150_000n + 180_000n + 10_000_000n,
  )
})

test('rounds half up, once, with the mark-up inside', () => {
  expect(chargeOf({ tokens: { input: 1 } }, at({ input: 499_999n }))).toBe(0n)
  expect(chargeOf({ tokens: { input: 1 } }, at({ input: 500_000n }))).toBe(1n)
  // 0.4 + 0.4 rounds to 1 together, to 0 apart; 0.45 × 1.1 = 0.495 stays below a half.
  expect(
    chargeOf({ tokens: { input: 1, output: 1 } }, at({ input: 400_000n, output: 400_000n })),
  ).toBe(1n)
  expect(chargeOf({ tokens: { input: 1 } }, at({ input: 450_000n }, 1_000))).toBe(0n)
  expect(chargeOf({ tokens: { input: 1 } }, at({ input: 460_000n }, 1_000))).toBe(1n)
})

test('agrees with exact fractions', () => {
  const tokens = fc.integer({ min: 0, max: 10_000_000 })
  const rate = fc.bigInt(0n, 1_000_000_000_000n)
  fc.assert(
    fc.property(
      tokens,
      tokens,
      rate,
      rate,
      fc.integer({ min: 0, max: 20_000 }),
      (input, output, r1, r2, markup) => {
        const charge = chargeOf(
          { tokens: { input, output } },
          at({ input: r1, output: r2 }, markup),
        )
        const numerator = (BigInt(input) * r1 + BigInt(output) * r2) * BigInt(10_000 + markup)
        const remainder = numerator - charge * 10n ** 10n
        expect(remainder >= -5n * 10n ** 9n && remainder < 5n * 10n ** 9n).toBe(true)
      },
    ),
  )
})

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1_000_000_001])(
  'refuses %s tokens',
  input => {
    expect(() => chargeOf({ tokens: { input } }, at({ input: 1n }))).toThrow(RangeError)
    expect(() =>
      chargeOf({ tokens: {}, counts: { request: input } }, at({}, 0, { request: 1n })),
    ).toThrow(RangeError)
  },
)

test('refuses a class without a rate, unless nothing of it was used', () => {
  expect(() => chargeOf({ tokens: { outputAudio: 1 } }, at({ output: 1n }))).toThrow(
    /no rate for outputAudio/,
  )
  expect(() => chargeOf({ tokens: {}, counts: { webSearch: 1 } }, at({}))).toThrow(
    /no rate for webSearch/,
  )
  expect(chargeOf({ tokens: { outputAudio: 0 } }, at({ output: 1n }))).toBe(0n)
})

test('refuses a charge that no balance could hold', () => {
  expect(() => chargeOf({ tokens: { input: 1_000_000_000 } }, at({ input: 10n ** 17n }))).toThrow(
    RangeError,
  )
})
