/** The architecture as a test. The rules are in test/tidy/; a finding says where, and what to do instead. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { namesNoProvider, providersAreRegistered } from './tidy/places.ts'
import { hasNoNotes } from './tidy/readable.ts'
import { rules, samples } from './tidy/samples.ts'
import { type Finding, layerOf, parse } from './tidy/source.ts'
import { foldersAreNouns, namesNoMachine, testsMirrorSource } from './tidy/tree.ts'

const root = join(import.meta.dirname, '..')
const notOurs = /^(node_modules|dist|data|coverage|\.git|\.env)$|\.log$/

const list = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !notOurs.test(name))
    .flatMap(entry => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? list(path) : entry.isFile() ? [path] : []
    })

const files = list('').map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const texts = files.filter(({ text }) => !text.includes('\0'))
const sources = files
  .filter(({ path }) => /^(src|test|bench)\//.test(path) && ['.ts', '.tsx'].includes(extname(path)))
  .map(({ path, text }) => parse(path, text))
const layers = new Set(sources.flatMap(({ path }) => layerOf(path) ?? []))

/** Those that look at more than one file, or at files that are no TypeScript. */
const apart = [
  'hasNoNotes',
  'namesNoMachine',
  'namesNoProvider',
  'providersAreRegistered',
  'foldersAreNouns',
  'testsMirrorSource',
]

const nothing = (findings: Finding[]): void =>
  expect(findings.map(({ path, line, message }) => `${path}:${line}  ${message}`)).toEqual([])

describe('the code keeps the rule', () => {
  test.each(Object.entries(rules).filter(([name]) => !apart.includes(name)))('%s', (_, rule) => {
    nothing(sources.flatMap(rule))
  })
  test('hasNoNotes', () => {
    nothing(
      texts
        .filter(({ path }) => !path.includes('fixtures/'))
        .flatMap(({ path, text }) => hasNoNotes(path, text)),
    )
  })
  test('namesNoMachine', () =>
    nothing(texts.flatMap(({ path, text }) => namesNoMachine(path, text))))
  test('foldersAreNouns', () => nothing(files.flatMap(({ path }) => foldersAreNouns(path))))
  test('testsMirrorSource', () =>
    nothing(files.flatMap(({ path }) => testsMirrorSource(path, layers))))
  test('providersAreRegistered', () => nothing(providersAreRegistered(sources)))
  test('namesNoProvider', async () => {
    const { providers } = await import('../src/providers/registry.ts')
    const ids = providers.map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(0)
    nothing(sources.flatMap(source => namesNoProvider(source, ids)))
  })
})

describe('the rule tells bad from good', () => {
  const rows = samples.map(sample => ({ ...sample, code: sample.text.slice(0, 80) }))
  test.each(rows)('$rule finds $finds in $path: $code', ({ rule, path, text, finds }) => {
    expect(rules[rule]?.(parse(path, text))).toHaveLength(finds)
  })
  test('every rule has a sample that it must find', () => {
    const caught = new Set(samples.filter(({ finds }) => finds > 0).map(({ rule }) => rule))
    expect(Object.keys(rules).filter(rule => !caught.has(rule))).toEqual([])
  })
})
