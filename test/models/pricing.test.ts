import { expect, test } from 'vitest'
import type { AppliedRates as OnReceipt } from '../../src/ledger/receipt.ts'
import { priceFromList } from '../../src/models/list-price.ts'
import type { Price } from '../../src/models/price.ts'
import { appliedRates } from '../../src/models/pricing.ts'

const ratesOf = (input: string) => priceFromList({ input, output: '9' }, 'v').tiers[0].rates
const price: Price = {
  version: 'v1',
  effectiveFrom: '2026-01-01',
  fees: { request: 5n },
  tiers: [
    { abovePromptTokens: 0, rates: ratesOf('1') },
    { abovePromptTokens: 1000, rates: ratesOf('2') },
    { abovePromptTokens: 5000, rates: ratesOf('3') },
  ],
}

test.each([
  [0, 1n],
  [1, 1n],
  [1000, 1n],
  [1001, 2n],
  [5000, 2n],
  [5001, 3n],
  [10_000_000, 3n],
])('a prompt of %d tokens is billed by the tier that it exceeds', (tokens, usd) => {
  expect(appliedRates(price, tokens, 0).rates.input).toBe(usd * 1_000_000_000n)
})

test('says all that a charge is computed from, as the receipt keeps it', () => {
  const applied: OnReceipt = appliedRates(price, 0, 250)
  expect(applied).toEqual({
    version: 'v1',
    effectiveFrom: '2026-01-01',
    rates: price.tiers[0].rates,
    fees: { request: 5n },
    markupBasisPoints: 250,
  })
})

test('makes nothing twice, and nothing that can be changed', () => {
  expect(appliedRates(price, 10, 0)).toBe(appliedRates(price, 20, 0))
  expect(appliedRates(price, 10, 0)).not.toBe(appliedRates(price, 2000, 0))
  expect(Object.isFrozen(appliedRates(price, 10, 0))).toBe(true)
})

test('keeps mark-ups apart', () => {
  expect(appliedRates(price, 10, 100).markupBasisPoints).toBe(100)
  expect(appliedRates(price, 10, 0).markupBasisPoints).toBe(0)
})
