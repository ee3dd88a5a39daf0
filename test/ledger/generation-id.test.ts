import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { generationIds } from '../../src/ledger/generation-id.ts'

test('ascends whatever the clock does, and never repeats', () => {
  let nowMs = 1_800_000_000_000
  const newId = generationIds(() => nowMs, randomBytes)
  const ids: string[] = []
  for (let index = 0; index < 200_000; index++) {
    if (index % 50_000 === 49_999) nowMs += index % 3 === 0 ? 5 : -60_000
    ids.push(newId())
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect([...ids].sort()).toEqual(ids)
  expect(ids.every(id => /^gen-[0-9a-z]{20}$/.test(id))).toBe(true)
})

test('sorts later times after earlier ones, across processes', () => {
  const early = generationIds(() => 1_700_000_000_000, randomBytes)()
  const late = generationIds(() => 1_700_000_000_001, randomBytes)()
  expect(early < late).toBe(true)
})
