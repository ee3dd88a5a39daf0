import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashKey, hasKeyShape, hintOf, mintKey } from '../../src/accounts/api-key.ts'

test('mints keys of the documented shape', () => {
  for (let index = 0; index < 1_000; index++) {
    const key = mintKey(randomBytes)
    expect(key).toMatch(/^tg_[0-9A-Za-z]{38}$/)
    expect(hasKeyShape(key)).toBe(true)
  }
})

test('ends in the CRC-32 of what stands before, in base62', () => {
  // crc32('tg_' + '0' × 32) = 3389688040, by Python's zlib.
  const key = mintKey(size => new Uint8Array(size))
  expect(key.slice(0, 35)).toBe(`tg_${'0'.repeat(32)}`)
  expect(key.slice(35)).toBe('3hOmhk')
})

test('favours no digit', () => {
  const counts = new Map<string, number>()
  const rounds = 4_000
  for (let index = 0; index < rounds; index++) {
    for (const digit of mintKey(randomBytes).slice(3, 35))
      counts.set(digit, (counts.get(digit) ?? 0) + 1)
  }
  expect(counts.size).toBe(62)
  const expected = (rounds * 32) / 62
  let chiSquared = 0
  for (const count of counts.values()) chiSquared += (count - expected) ** 2 / expected
  // 61 degrees of freedom: beyond 130 once in 2 million runs. `byte % 62` gives more than 600.
  expect(chiSquared).toBeLessThan(130)
})

test('knows a key by its checksum', () => {
  const key = mintKey(randomBytes)
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === 'x' ? 'y' : 'x'
    expect(hasKeyShape(key.slice(0, index) + other + key.slice(index + 1))).toBe(false)
  }
  for (const wrong of [
    '',
    key.slice(1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
    `sk_${key.slice(3)}`,
    `${key.slice(0, -1)}é`,
  ]) {
    expect(hasKeyShape(wrong)).toBe(false)
  }
})

test('hashes with SHA-256, and hints at both ends', () => {
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(hintOf('tg_ab12xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxwxyz')).toBe('tg_ab12…wxyz')
})
