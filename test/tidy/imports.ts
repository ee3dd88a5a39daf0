/** Who may import whom, and which package lives where. The table is the architecture; change it only on purpose. */
import { posix } from 'node:path'
import {
  at,
  child,
  dotted,
  type Finding,
  layerOf,
  type Node,
  type Source,
  stringValue,
  walk,
} from './source.ts'

type Row = {
  may: readonly string[]
  /** Only as `import type`. */
  types?: readonly string[]
}

const everything: Row = { may: ['*'] }
const leaf: Row = { may: [] }

/** A folder or file below `src/` and what it may import besides itself. */
const importTable: Readonly<Record<string, Row>> = {
  'main.ts': everything,
  cli: everything,
  // Puts the parts together and stops them; no more.
  'gateway.ts': everything,
  'app.ts': everything,
  // What is kept on disk, opened in order: for main.ts and cli/.
  'books.ts': { may: ['accounts', 'ledger', 'db', 'errors.ts'] },
  'first-start.ts': { may: ['books.ts'] },
  'stock.ts': { may: ['models', 'providers'], types: ['config.ts'] },
  'chores.ts': { may: ['ledger'], types: ['books.ts', 'models', 'telemetry'] },
  'drain.ts': { may: ['errors.ts'], types: ['app.ts', 'chat'] },
  edge: { may: ['wire', 'telemetry', 'errors.ts'] },
  chat: {
    may: [
      'accounts',
      'ledger',
      'models',
      'routing',
      'egress',
      'wire',
      'telemetry',
      'errors.ts',
      'thread.ts',
    ],
    types: ['dialects', 'providers'],
  },
  'account-api': { may: ['accounts', 'ledger', 'models', 'wire', 'errors.ts'] },
  'console-api': { may: ['accounts', 'ledger', 'models', 'routing', 'alerts', 'errors.ts'] },
  egress: { may: ['errors.ts'] },
  telemetry: { may: ['errors.ts'] },
  accounts: { may: ['db', 'errors.ts'] },
  ledger: { may: ['db', 'wire', 'errors.ts'] },
  alerts: { may: ['db', 'egress', 'errors.ts'] },
  routing: { may: ['models', 'errors.ts'], types: ['providers'] },
  models: { may: ['providers', 'wire', 'errors.ts'] },
  providers: { may: ['dialects', 'wire'] },
  dialects: { may: ['wire', 'errors.ts'] },
  db: { may: ['thread.ts'] },
  wire: leaf,
  'errors.ts': leaf,
  'config.ts': leaf,
  'thread.ts': leaf,
  console: { may: [], types: ['*'] },
}

/** A package (or all below a scope) and the only layers that may import it. */
const packageHomes: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^undici$/, ['egress']],
  [/^(fastify|@fastify\/.*)$/, ['app.ts', 'edge', 'chat', 'account-api', 'console-api']],
  [/^better-sqlite3(-napi10)?$/, ['db']],
  [/^(pino|prom-client|@opentelemetry\/.*)$/, ['telemetry']],
  [/^argon2$/, ['accounts']],
  [/^commander$/, ['cli']],
  [/^dotenv$/, ['config.ts']],
  [/^(node:)?process$/, ['config.ts', 'main.ts', 'cli']],
  [/^@pydantic\/genai-prices$/, ['models']],
]

/** Where a Node module may not be imported at all: a layer that is promised to do no I/O. */
const noInputOutput = ['dialects', 'wire', 'routing']
const inputOutput =
  /^(node:)?(fs|fs\/promises|net|tls|dgram|dns|http|https|http2|child_process|worker_threads|os)$/

type Import = { node: Node; from: string; typeOnly: boolean }

const isTypeOnly = (node: Node): boolean => {
  if (node.importKind === 'type' || node.exportKind === 'type') return true
  const specifiers = Array.isArray(node.specifiers) ? node.specifiers : []
  return (
    specifiers.length > 0 &&
    specifiers.every(one => one.importKind === 'type' || one.exportKind === 'type')
  )
}

/** Imports, re-exports, `import()`, `require()`, `import('…')` types, `new URL('…', import.meta.url)`. */
export const importsOf = (source: Source): Import[] => {
  const found: Import[] = []
  const add = (node: Node, from: Node | undefined, typeOnly: boolean): void => {
    const path = from && stringValue(from)
    if (path !== undefined) found.push({ node, from: path, typeOnly })
  }
  walk(source.program, node => {
    if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type))
      add(node, child(node, 'source'), isTypeOnly(node))
    if (node.type === 'ImportExpression') add(node, child(node, 'source'), false)
    if (node.type === 'TSImportType')
      add(node, child(node, 'source') ?? child(node, 'argument'), true)
    const first = Array.isArray(node.arguments) ? node.arguments[0] : undefined
    if (
      node.type === 'CallExpression' &&
      /^require(\.resolve)?$/.test(dotted(child(node, 'callee')) ?? '')
    )
      add(node, first, false)
    if (
      node.type === 'NewExpression' &&
      dotted(child(node, 'callee')) === 'URL' &&
      Array.isArray(node.arguments)
    ) {
      const base = node.arguments[1]
      if (base?.type === 'MemberExpression' && child(base, 'object')?.type === 'MetaProperty')
        add(node, first, false)
    }
  })
  return found
}

const packageOf = (from: string): string =>
  from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/')

const wrongDirection = (
  source: Source,
  layer: string,
  { node, from, typeOnly }: Import,
): Finding[] => {
  const target = posix.join(posix.dirname(source.path), from)
  const to = layerOf(target)
  if (to === undefined || to === layer) return []
  const row = importTable[layer]
  if (row === undefined) return []
  const allowed = (names: readonly string[]): boolean => names.includes('*') || names.includes(to)
  if (allowed(row.may) || (typeOnly && allowed(row.types ?? []))) return []
  const remedy = allowed(row.types ?? [])
    ? 'Import it with `import type`, and pass the value in from main.ts or app.ts.'
    : 'Pass it in as an argument from main.ts or app.ts, or move the thing to a layer that both may import.'
  return [at(source, node, `${layer} may not import ${to} (${from}). ${remedy}`)]
}

/** Each import of `src/` goes in the direction of the table. */
export const importsGoDown = (source: Source): Finding[] => {
  const layer = layerOf(source.path)
  if (layer === undefined) return []
  if (importTable[layer] === undefined) {
    const remedy = 'Give it a row in importTable of test/tidy/imports.ts: what may it import?'
    return [
      {
        path: source.path,
        line: 1,
        message: `src/${layer} has no row in the table of imports. ${remedy}`,
      },
    ]
  }
  return importsOf(source)
    .filter(({ from }) => from.startsWith('.'))
    .flatMap(one => wrongDirection(source, layer, one))
}

/** Each package has the homes of the table and no other. A type counts too: it would tie a layer to the package. */
export const packagesStayHome = (source: Source): Finding[] => {
  const layer = layerOf(source.path)
  if (layer === undefined) return []
  return importsOf(source).flatMap(({ node, from }) => {
    const home = packageHomes.find(([name]) => name.test(packageOf(from)))?.[1]
    if (home && !home.includes(layer)) {
      const remedy = `Use what ${home.join(' or ')} exports, or take it as an argument.`
      return [at(source, node, `${from} lives in ${home.join(', ')} only. ${remedy}`)]
    }
    if (noInputOutput.includes(layer) && inputOutput.test(from))
      return [
        at(
          source,
          node,
          `${layer} does no I/O, so it may not import ${from}. Take what it needs as an argument.`,
        ),
      ]
    return []
  })
}
