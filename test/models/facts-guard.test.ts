import { expect, test } from 'vitest'
import { changesBetween, refuseWild } from '../../src/models/facts-guard.ts'
import type { Facts } from '../../src/models/model-facts.ts'

const last: Record<string, Facts> = {
  'a/one': { context: 128_000, output: 4000, price: ['1', '4'] },
}
const refused = (one: Facts, accepted?: ReadonlySet<string>) =>
  refuseWild({ 'a/one': one }, last, accepted).map(([, reason]) => reason)

test.each<[Facts, string[]]>([
  [{ price: ['10', '40'] }, []],
  [{ price: ['0.1', '0.4'] }, []],
  [{ price: ['10.1', '4'] }, ['input 1 → 10.1 USD']],
  [{ price: ['1', '0.399'] }, ['output 4 → 0.399 USD']],
  [{ context: 1_280_000 }, []],
  [{ context: 12_000 }, ['context 128000 → 12000 tokens']],
  [{ context: 200 }, ['a context of 200 tokens']],
  [{ context: 30_000_000 }, ['a context of 30000000 tokens']],
  [{ context: 100_000, output: 100_001 }, ['an output of 100001 tokens in a context of 100000']],
])('%j is refused for %j', (facts, reasons) => {
  expect(refused(facts)).toEqual(reasons)
})

test('a model accepted by name passes, a new one too', () => {
  expect(refused({ price: ['99', '4'] }, new Set(['a/one']))).toEqual([])
  expect(refuseWild({ 'a/new': { price: ['99', '400'] } }, last)).toEqual([])
})

test('tells what came, went and changed', () => {
  const next: Record<string, Facts> = {
    'a/one': { context: 128_000, image: true, price: ['1', '5'] },
    'a/two': {},
  }
  expect(changesBetween(next, { ...last, 'a/old': {} })).toEqual([
    '- a/old',
    '~ a/one: output 4000 → -, price ["1","4"] → ["1","5"], image - → true',
    '+ a/two',
  ])
})
