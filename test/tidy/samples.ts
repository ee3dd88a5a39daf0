/** Code that breaks each rule, and code that looks like it but is sound. Each rule must tell them apart. */
import { importsGoDown, packagesStayHome } from './imports.ts'
import { ledgerHasNoFloats, nanoUsdIsBigint } from './money.ts'
import { effectsStayHome, namesNoProvider, providersAreRegistered, sqlStaysHome } from './places.ts'
import * as readable from './readable.ts'
import { type Finding, parse, type Source } from './source.ts'
import { foldersAreNouns, namesNoMachine, testsAreOn, testsMirrorSource } from './tree.ts'

type Sample = { rule: string; path: string; text: string; finds: number }

const bad = (rule: string, path: string, text: string, finds = 1): Sample => ({
  rule,
  path,
  text,
  finds,
})
const good = (rule: string, path: string, text: string): Sample => ({ rule, path, text, finds: 0 })

const text =
  (rule: (path: string, text: string) => Finding[]) =>
  ({ path, text }: Source): Finding[] =>
    rule(path, text)

/** Every rule by its name, as a function of one source. */
export const rules: Readonly<Record<string, (source: Source) => Finding[]>> = {
  importsGoDown,
  packagesStayHome,
  effectsStayHome,
  sqlStaysHome,
  ledgerHasNoFloats,
  nanoUsdIsBigint,
  testsAreOn,
  fileIsShort: readable.fileIsShort,
  functionsAreShort: readable.functionsAreShort,
  hasNoAny: readable.hasNoAny,
  castsHaveReasons: readable.castsHaveReasons,
  returnsAwaitInTry: readable.returnsAwaitInTry,
  hasNoNotes: text(readable.hasNoNotes),
  namesNoMachine: text(namesNoMachine),
  namesNoProvider: source => namesNoProvider(source, ['acme']),
  providersAreRegistered: source =>
    providersAreRegistered([
      source,
      parse('src/providers/registry.ts', `import { acme } from './acme.ts'`),
    ]),
  foldersAreNouns: ({ path }) => foldersAreNouns(path),
  testsMirrorSource: ({ path }) => testsMirrorSource(path, new Set(['ledger'])),
}

const lines = (count: number): string => 'call()\n'.repeat(count)
const inTry = (statement: string, start = 'async () =>'): string =>
  `export const f = ${start} { try { ${statement} } catch { return null } }`

/** Pieces that the rules about text must not find in this file. */
const note = `FIX${'ME'}`
const machine = `/${'root'}/secrets`
const host = `https://registry.npm${'js'}.org/zod`

export const samples: readonly Sample[] = [
  bad('importsGoDown', 'src/wire/sse.ts', `import { a } from '../ledger/ledger.ts'`),
  bad('importsGoDown', 'src/ledger/ledger.ts', `import type { A } from '../chat/route.ts'`),
  bad('importsGoDown', 'src/chat/route.ts', `import { openai } from '../dialects/openai.ts'`),
  bad('importsGoDown', 'src/chat/route.ts', `import { type A, b } from '../dialects/dialect.ts'`),
  bad('importsGoDown', 'src/account-api/key.ts', `export { a } from '../chat/route.ts'`),
  bad('importsGoDown', 'src/account-api/key.ts', `export * from '../providers/registry.ts'`),
  bad('importsGoDown', 'src/db/db.ts', `const a = await import('../ledger/ledger.ts')`),
  bad('importsGoDown', 'src/db/db.ts', `let a: import('../ledger/ledger.ts').Ledger`),
  bad('importsGoDown', 'src/db/db.ts', `const a = require('../ledger/ledger.ts')`),
  bad('importsGoDown', 'src/db/db.ts', `const a = new URL('../ledger/commit.ts', import.meta.url)`),
  bad('importsGoDown', 'src/errors.ts', `import { a } from './config.ts'`),
  bad('importsGoDown', 'src/console/page.ts', `import { a } from '../ledger/ledger.ts'`),
  bad('importsGoDown', 'src/novelty/a.ts', `export const a = 1`),
  good('importsGoDown', 'src/console/page.ts', `import type { A } from '../console-api/keys.ts'`),
  good(
    'importsGoDown',
    'src/chat/route.ts',
    `import type { Dialect } from '../dialects/dialect.ts'`,
  ),
  good(
    'importsGoDown',
    'src/chat/route.ts',
    `import { a } from './relay.ts'; import { b } from '../ledger/ledger.ts'`,
  ),
  good('importsGoDown', 'src/cli/main.ts', `import { a } from '../ledger/ledger.ts'`),
  good('importsGoDown', 'test/ledger/ledger.test.ts', `import { a } from '../../src/db/db.ts'`),

  bad('packagesStayHome', 'src/chat/dispatch.ts', `import { Pool } from 'undici'`),
  bad('packagesStayHome', 'src/ledger/ledger.ts', `import type { FastifyRequest } from 'fastify'`),
  bad('packagesStayHome', 'src/ledger/ledger.ts', `import cors from '@fastify/cors'`),
  bad('packagesStayHome', 'src/ledger/ledger.ts', `const a = require('better-sqlite3-napi10')`),
  bad('packagesStayHome', 'src/dialects/gemini.ts', `import { readFileSync } from 'node:fs'`),
  bad('packagesStayHome', 'src/chat/route.ts', `import { env } from 'node:process'`),
  good(
    'packagesStayHome',
    'src/egress/pools.ts',
    `import { Pool } from 'undici'; import { readFile } from 'node:fs/promises'`,
  ),
  good('packagesStayHome', 'test/chat/relay.test.ts', `import Fastify from 'fastify'`),

  bad('effectsStayHome', 'src/ledger/ledger.ts', `export const a = process.env.HOME`),
  bad('effectsStayHome', 'src/chat/route.ts', `const { HOME } = process.env; process.exit(1)`, 2),
  bad('effectsStayHome', 'src/chat/dispatch.ts', `const a = await fetch(url)`),
  bad(
    'effectsStayHome',
    'src/dialects/gemini.ts',
    `const a = Date.now(); const b = new Date(); const c = Math.random()`,
    3,
  ),
  good('effectsStayHome', 'src/config.ts', `export const a = process.env.HOME`),
  good('effectsStayHome', 'src/main.ts', `process.exit(0)`),
  good('effectsStayHome', 'src/dialects/gemini.ts', `const a = new Date(seconds * 1000)`),
  good(
    'effectsStayHome',
    'src/chat/route.ts',
    `process.exitCode = 1; pool.fetch(a); type A = { fetch: string }`,
  ),

  bad('sqlStaysHome', 'src/chat/route.ts', `const a = 'SELECT 1 FROM accounts'`),
  bad('sqlStaysHome', 'src/cli/audit.ts', `const a = \`\nUPDATE accounts\n  SET balance = \${b}\``),
  bad('sqlStaysHome', 'src/cli/audit.ts', `const a = 'delete from holds where id = ?'`),
  bad('sqlStaysHome', 'src/app.ts', `const a = 'PRAGMA wal_checkpoint'`),
  good('sqlStaysHome', 'src/ledger/ledger.ts', `const a = 'SELECT 1 FROM accounts'`),
  good('sqlStaysHome', 'src/chat/route.ts', `const a = 'Select a model from the list'`),

  bad('namesNoProvider', 'src/chat/route.ts', `if (provider.id === 'acme') retry()`),
  good('namesNoProvider', 'src/chat/route.ts', `const a = 'acme is one of many'`),
  good('namesNoProvider', 'src/providers/acme.ts', `export const acme = { id: 'acme' }`),
  bad(
    'providersAreRegistered',
    'src/providers/other.ts',
    `export const o = { id: 'other', baseUrl: 'x' } satisfies Provider`,
  ),
  bad(
    'providersAreRegistered',
    'src/providers/other.ts',
    `export const o = compatible({ id: 'other', baseUrl: 'x' })`,
  ),
  good(
    'providersAreRegistered',
    'src/providers/acme.ts',
    `export const acme = { id: 'acme', baseUrl: 'x' }`,
  ),
  good(
    'providersAreRegistered',
    'src/providers/provider.ts',
    `export interface Provider { id: string; baseUrl: string }`,
  ),

  bad('ledgerHasNoFloats', 'src/ledger/ledger.ts', `const a = Number(b)`),
  bad('ledgerHasNoFloats', 'src/ledger/ledger.ts', `const a = Math.ceil(b * 1.5)`),
  bad('ledgerHasNoFloats', 'src/ledger/ledger.ts', `const a = parseFloat(b) + 1e9`, 2),
  good('ledgerHasNoFloats', 'src/ledger/ledger.ts', `const a = Number(b) // not money: rows`),
  good('ledgerHasNoFloats', 'src/ledger/ledger.ts', `const a = 1_000_000n * 0xen`),
  good('ledgerHasNoFloats', 'src/chat/meter.ts', `const a = Number(b)`),
  bad('nanoUsdIsBigint', 'src/chat/meter.ts', `const f = (amountNanoUsd: number): void => {}`),
  bad('nanoUsdIsBigint', 'src/chat/meter.ts', `type A = { priceNanoUsd?: number }`),
  good('nanoUsdIsBigint', 'src/chat/meter.ts', `type A = { priceNanoUsd: bigint; count: number }`),

  bad('fileIsShort', 'src/chat/route.ts', lines(401)),
  good('fileIsShort', 'src/chat/route.ts', lines(400)),
  bad('functionsAreShort', 'src/chat/route.ts', `const f = () => {\n${lines(69)}}`),
  bad('functionsAreShort', 'src/chat/route.ts', `class A { f() {\n${lines(69)}} }`),
  bad('functionsAreShort', 'test/chat/route.test.ts', `test('a', () => {\n${lines(69)}})`),
  good('functionsAreShort', 'src/chat/route.ts', `const f = () => {\n${lines(68)}}`),
  good(
    'functionsAreShort',
    'test/chat/route.test.ts',
    `describe.each(rows)('a', () => {\n${lines(90)}})`,
  ),
  good(
    'functionsAreShort',
    'test/chat/route.test.ts',
    `describeWhere(there, 'why')('a', () => {\n${lines(90)}})`,
  ),

  bad('hasNoAny', 'src/chat/route.ts', `const f = (a: any): Promise<any[]> => a`, 2),
  bad(
    'hasNoAny',
    'src/chat/route.ts',
    '// biome-ignore lint/suspicious/noExplicitAny: no\nlet a: any',
  ),
  good(
    'hasNoAny',
    'test/a.test.ts',
    '// biome-ignore lint/suspicious/noExplicitAny: yes\nlet a: any',
  ),
  good('hasNoAny', 'src/chat/route.ts', `const any: unknown = 1`),
  bad('castsHaveReasons', 'src/chat/route.ts', `const a = b as unknown as C`),
  bad('castsHaveReasons', 'src/chat/route.ts', `// Far away.\n\nconst a = b as C`),
  good('castsHaveReasons', 'src/chat/route.ts', `const a = ['b'] as const`),
  good('castsHaveReasons', 'src/chat/route.ts', `// The schema checked it.\nconst a = b as C`),
  good('castsHaveReasons', 'src/chat/route.ts', `const a = b as C // the schema checked it`),
  good('castsHaveReasons', 'test/chat/route.test.ts', `const a = b as C`),

  bad('returnsAwaitInTry', 'src/chat/route.ts', inTry('return send()')),
  bad(
    'returnsAwaitInTry',
    'src/chat/route.ts',
    inTry('if (a) return b ? await c() : this.send(1)'),
  ),
  bad(
    'returnsAwaitInTry',
    'src/chat/route.ts',
    `async function f() { try { a() } catch { return b() } finally { c() } }`,
  ),
  good(
    'returnsAwaitInTry',
    'src/chat/route.ts',
    `async function f() { try { a() } catch { return b() } }`,
  ),
  good('returnsAwaitInTry', 'src/chat/route.ts', inTry('return await send()')),
  good('returnsAwaitInTry', 'src/chat/route.ts', inTry('return JSON.parse(a)')),
  good('returnsAwaitInTry', 'src/chat/route.ts', inTry('return send()', '() =>')),
  good(
    'returnsAwaitInTry',
    'src/chat/route.ts',
    `class A { send(): Answer { return 1 } }; ${inTry('return a.send()')}`,
  ),
  bad(
    'returnsAwaitInTry',
    'src/chat/route.ts',
    `const send = (): Promise<A> => ask(); ${inTry('return send()')}`,
  ),
  good(
    'returnsAwaitInTry',
    'src/chat/route.ts',
    inTry('return rows.map(row => { return row.read() }), 1'),
  ),

  bad('hasNoNotes', 'src/chat/route.ts', `// ${note} later`),
  good('hasNoNotes', 'src/chat/route.ts', `const a = 'aXXXb' // mkdtemp wants XXXXXX`),
  bad('namesNoMachine', 'src/chat/route.ts', `const a = '${machine}'`),
  bad('namesNoMachine', 'package-lock.json', `"${host}"`),
  good(
    'namesNoMachine',
    'src/chat/route.ts',
    `const a = 'https://example.com/home/x'; import './registry.ts'`,
  ),

  bad('foldersAreNouns', 'src/chat/utils/a.ts', ''),
  good('foldersAreNouns', 'src/chat/types.ts', ''),
  bad('testsMirrorSource', 'test/nowhere/a.test.ts', ''),
  good('testsMirrorSource', 'test/ledger/a.test.ts', ''),
  bad(
    'testsAreOn',
    'test/chat/route.test.ts',
    `test.only('a', f); describe.skipIf(b)('c', g); it.concurrent.skip('d', h)`,
    3,
  ),
  good(
    'testsAreOn',
    'test/chat/route.test.ts',
    `test.each(rows)('a', f); list.skip(3); stream.only`,
  ),
]
