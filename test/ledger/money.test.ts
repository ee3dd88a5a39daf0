import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatUsd, mostNanoUsd, parseUsd } from '../../src/ledger/money.ts'

test.each([
  ['0', 0n],
  ['25', 25_000_000_000n],
  ['25.00', 25_000_000_000n],
  ['0.0021', 2_100_000n],
  ['0.000000001', 1n],
  ['1000000000', mostNanoUsd],
])('reads %s exactly', (text, nanoUsd) => {
  expect(parseUsd(text)).toBe(nanoUsd)
})

test('reads a sign only where asked to', () => {
  expect(parseUsd('-1.50', { signed: true })).toBe(-1_500_000_000n)
  expect(parseUsd('+1.50', { signed: true })).toBe(1_500_000_000n)
  expect(() => parseUsd('-1.50')).toThrow(/Not an amount/)
})

test.each([
  ...[
    '',
    ' ',
    '1 ',
    '1,5',
    '.5',
    '5.',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '--1',
    '1.0000000001',
    '1000000000.000000001',
  ],
  ...['99999999999', '١', '1_000', '1\n'],
])('refuses %j', text => {
  expect(() => parseUsd(text, { signed: true })).toThrow(
    expect.objectContaining({ code: 'invalid_request' }),
  )
})

test('writes without exponent and without idle zeros', () => {
  expect([0n, 1n, 2_100_000n, 25_000_000_000n, -1_500_000_000n].map(formatUsd)).toEqual([
    ...['0', '0.000000001', '0.0021', '25', '-1.5'],
  ])
})

test('reads back what it wrote', () => {
  fc.assert(
    fc.property(fc.bigInt(-mostNanoUsd, mostNanoUsd), nanoUsd => {
      expect(parseUsd(formatUsd(nanoUsd), { signed: true })).toBe(nanoUsd)
    }),
  )
})
