/** Things that have one place: the environment, the exit, SQL, the network, the clock, a provider's name. */
import { importsOf } from './imports.ts'
import {
  at,
  child,
  children,
  dotted,
  type Finding,
  layerOf,
  type Node,
  type Source,
  stringValue,
  walk,
} from './source.ts'

type Place = { match: RegExp; layers: readonly string[]; message: string }

const onlyIn: readonly Place[] = [
  {
    match: /^(globalThis\.)?process\.(env|loadEnvFile)$/,
    layers: ['config.ts'],
    message: 'reads the environment. Add a setting to config.ts and take it as an argument.',
  },
  {
    match: /^(globalThis\.)?process\.(exit|abort|reallyExit)$/,
    layers: ['main.ts', 'cli'],
    message: 'ends the process. Throw, and let main.ts or cli/ decide.',
  },
  {
    match: /^(globalThis\.)?fetch$/,
    layers: ['egress', 'console'],
    message: 'goes out by its own door. Use egress/, which has the pools and the guard.',
  },
]

/** Dialects are functions of their input alone. */
const impure =
  /^(Date\.now|performance\.now|Math\.random|crypto\.\w+|set(Timeout|Interval|Immediate)|process\.\w+)$/

const isReference = (parent: Node | undefined, node: Node): boolean => {
  if (parent?.type === 'MemberExpression') return parent.object === node
  if (parent?.type === 'Property') return parent.value === node && parent.method !== true
  return !/^(MethodDefinition|PropertyDefinition|TSPropertySignature|TSMethodSignature|ImportSpecifier)$/.test(
    parent?.type ?? '',
  )
}

/** `process.env`, `process.exit` and `fetch` each at home; no clock, chance or environment in a dialect. */
export const effectsStayHome = (source: Source): Finding[] => {
  const layer = layerOf(source.path)
  if (layer === undefined) return []
  const found: Finding[] = []
  walk(source.program, (node, ancestors) => {
    const parent = ancestors.at(-1)
    const name = dotted(node)
    if (name !== undefined && isReference(parent, node)) {
      for (const { match, layers, message } of onlyIn)
        if (match.test(name) && !layers.includes(layer))
          found.push(at(source, node, `${name} ${message}`))
      if (layer === 'dialects' && impure.test(name))
        found.push(
          at(source, node, `A dialect is pure, so no ${name}. Take the value as an argument.`),
        )
    }
    const fresh = node.type === 'NewExpression' && dotted(child(node, 'callee')) === 'Date'
    if (
      layer === 'dialects' &&
      fresh &&
      Array.isArray(node.arguments) &&
      node.arguments.length === 0
    )
      found.push(
        at(source, node, 'A dialect is pure, so no new Date(). Take the time as an argument.'),
      )
  })
  return found
}

const sqlHomes = ['db', 'ledger', 'accounts', 'alerts']
const upperSql =
  /\b(SELECT|INSERT|UPDATE|DELETE)\s([\s\S]*\s)?(FROM|INTO|SET|WHERE)\b|\b(CREATE|ALTER|DROP)\s+(TABLE|INDEX|TRIGGER)\b|^\s*PRAGMA\s/
const lowerSql = /^\s*(select|insert|update|delete)\s[\s\S]*\b(from|into|set|where)\s/

/** SQL stands in the layers that own tables. */
export const sqlStaysHome = (source: Source): Finding[] => {
  const layer = layerOf(source.path)
  if (layer === undefined || sqlHomes.includes(layer)) return []
  const found: Finding[] = []
  walk(source.program, node => {
    const text = stringValue(node)
    if (text !== undefined && (upperSql.test(text) || lowerSql.test(text)))
      found.push(
        at(
          source,
          node,
          `SQL lives in ${sqlHomes.join(', ')}. Ask one of them through a function with a name.`,
        ),
      )
  })
  return found
}

/** No provider is named outside `src/providers/`: shared code must not know whom it serves. */
export const namesNoProvider = (source: Source, providerIds: readonly string[]): Finding[] => {
  const layer = layerOf(source.path)
  if (layer === undefined || layer === 'providers') return []
  const found: Finding[] = []
  walk(source.program, (node, ancestors) => {
    if (/^(Import|Export)\w+Declaration$/.test(ancestors.at(-1)?.type ?? '')) return
    const text = stringValue(node)
    if (text === undefined || !providerIds.includes(text)) return
    const remedy = 'Make the difference a named quirk in its file of src/providers/, or a dialect.'
    found.push(at(source, node, `'${text}' names a provider outside src/providers/. ${remedy}`))
  })
  return found
}

const keysOf = (node: Node): string[] =>
  children(node).flatMap(property => {
    const key = child(property, 'key')
    return key ? [String(key.name ?? key.value)] : []
  })

/** A file that exports a literal with `id` and `baseUrl` declares a provider. */
const declaresProvider = (source: Source): boolean => {
  let declares = false
  for (const statement of children(source.program)) {
    if (statement.type !== 'ExportNamedDeclaration') continue
    walk(statement, (node, ancestors) => {
      if (node.type !== 'ObjectExpression' || ancestors.some(one => one.type === 'BlockStatement'))
        return
      const keys = keysOf(node)
      const id = children(node).some(
        one => child(one, 'key')?.name === 'id' && child(one, 'value')?.type === 'Literal',
      )
      if (id && keys.includes('baseUrl')) declares = true
    })
  }
  return declares
}

/** Every file of `src/providers/` that declares a provider is imported by `registry.ts`, the one list. */
export const providersAreRegistered = (sources: readonly Source[]): Finding[] => {
  const registry = sources.find(({ path }) => path === 'src/providers/registry.ts')
  const listed = new Set(
    registry ? importsOf(registry).map(({ from }) => `src/providers/${from.slice(2)}`) : [],
  )
  return sources
    .filter(
      source =>
        layerOf(source.path) === 'providers' && source !== registry && declaresProvider(source),
    )
    .filter(({ path }) => !listed.has(path))
    .map(({ path }) => ({
      path,
      line: 1,
      message: 'Not registered. Add its line to src/providers/registry.ts.',
    }))
}
