import { expect, test } from 'vitest'
import { notAllowed } from './skips.ts'

const skipped = [
  { name: 'test/a.test.ts > recorded answers', reason: 'no recordings' },
  { name: 'test/b.test.ts > signs in', reason: 'no reason given' },
]

test('refuses a skip that the list does not name', () => {
  const allowed = [{ test: 'test/a.test.ts > recorded', reason: 'not part of the project' }]
  expect(notAllowed(skipped, allowed)).toEqual([skipped[1]])
})

test('takes the beginning of a name, and no entry for all', () => {
  expect(notAllowed(skipped, [{ test: 'test/', reason: 'a folder' }])).toEqual([])
  expect(notAllowed(skipped, [{ test: '', reason: 'everything' }])).toEqual(skipped)
})
