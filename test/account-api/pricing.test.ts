import { expect, test } from 'vitest'
import { perToken, withMarkup } from '../../src/account-api/pricing.ts'

test.each([
  [150_000_000n, 0, '0.00000015'],
  [150_000_000n, 1, '0.000000150015'],
  [1n, 1, '0.0000000000000010001'],
  [0n, 550, '0'],
  [1_000_000_000_000_000n, 0, '1'],
  [2_500_000_000n, 10_000, '0.000005'],
])('%s nano-USD a million at %s basis points is %s USD a token', (rate, markup, usd) => {
  expect(perToken(rate, markup)).toBe(usd)
})

test.each([
  [5_000_000n, 0, '0.005'],
  [5_000_000n, 550, '0.005275'],
  [1n, 1, '0.0000000010001'],
  [12_000_000_000n, 0, '12'],
])('%s nano-USD at %s basis points is %s USD', (fee, markup, usd) => {
  expect(withMarkup(fee, markup)).toBe(usd)
})
