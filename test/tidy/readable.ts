/** What keeps the code readable in an afternoon: sizes, honest types, awaited returns, no notes to self. */
import {
  at,
  child,
  dotted,
  type Finding,
  hasCommentAt,
  isFunction,
  layerOf,
  type Node,
  type Source,
  walk,
} from './source.ts'

const limits = { functionLines: 70, fileLines: 400 }

export const fileIsShort = (source: Source): Finding[] =>
  source.lines <= limits.fileLines
    ? []
    : [
        {
          path: source.path,
          line: limits.fileLines,
          message: `${source.lines} lines, ${limits.fileLines} at most. Find the second noun in it and give that a file.`,
        },
      ]

/** The body of a `describe` is a list of tests, no function that one reads in one go. */
const isSuite = (parent: Node | undefined): boolean => {
  if (parent?.type !== 'CallExpression') return false
  let callee = child(parent, 'callee')
  while (callee && callee.type !== 'Identifier')
    callee = child(callee, 'object') ?? child(callee, 'callee') ?? child(callee, 'tag')
  return callee !== undefined && /^describe/.test(String(callee.name))
}

export const functionsAreShort = (source: Source): Finding[] => {
  const found: Finding[] = []
  walk(source.program, (node, ancestors) => {
    if (!isFunction(node) || isSuite(ancestors.at(-1))) return
    const lines = source.lineOf(node.end) - source.lineOf(node.start) + 1
    if (lines > limits.functionLines) {
      const remedy = 'Name its steps and make each a function.'
      found.push(
        at(
          source,
          node,
          `A function of ${lines} lines, ${limits.functionLines} at most. ${remedy}`,
        ),
      )
    }
  })
  return found
}

/** Tests may excuse one, in the words that the linter asks for. */
export const hasNoAny = (source: Source): Finding[] => {
  const found: Finding[] = []
  walk(source.program, node => {
    const line = source.lineOf(node.start)
    const excused = !layerOf(source.path) && hasCommentAt(source, line, line, /noExplicitAny: /)
    if (node.type === 'TSAnyKeyword' && !excused)
      found.push(
        at(source, node, '`any` switches the types off. Write the type, or `unknown` and a check.'),
      )
  })
  return found
}

const isConst = (cast: Node): boolean => {
  const annotation = child(cast, 'typeAnnotation')
  return annotation?.type === 'TSTypeReference' && child(annotation, 'typeName')?.name === 'const'
}

/** In `src/` each cast, save `as const`, has a comment beside or above it. */
export const castsHaveReasons = (source: Source): Finding[] => {
  if (layerOf(source.path) === undefined) return []
  const found: Finding[] = []
  walk(source.program, (node, ancestors) => {
    if (node.type !== 'TSAsExpression' && node.type !== 'TSTypeAssertion') return
    if (isConst(node) || ancestors.at(-1)?.type === 'TSAsExpression') return
    const first = source.lineOf(node.start)
    const last = source.lineOf(node.end)
    if (hasCommentAt(source, first, first) || hasCommentAt(source, last, last)) return
    const remedy =
      'Say in a comment on the line, or above it, why this is sound; better, check the value instead.'
    found.push(at(source, node, `A cast without a reason. ${remedy}`))
  })
  return found
}

/** Calls that are known to return no promise. */
const synchronous =
  /^((JSON|Object|Number|String|Math|BigInt|Date|Buffer|Array)\.\w+|Number|String|Boolean|BigInt)$/

const tails = (node: Node | undefined): Node[] => {
  if (node === undefined) return []
  if (node.type === 'ConditionalExpression')
    return [...tails(child(node, 'consequent')), ...tails(child(node, 'alternate'))]
  if (node.type === 'LogicalExpression')
    return [...tails(child(node, 'left')), ...tails(child(node, 'right'))]
  if (/^(Parenthesized|TSAs|TSSatisfies|TSNonNull|Chain)Expression$/.test(node.type))
    return tails(child(node, 'expression'))
  return [node]
}

/** The function that a node stands in, and whether a `try` of that function still guards it. */
const guardOf = (
  node: Node,
  ancestors: readonly Node[],
): { asynchronous: boolean; guarded: boolean } => {
  let below = node
  let guarded = false
  for (const above of ancestors.toReversed()) {
    if (isFunction(above))
      return { asynchronous: above.async === true && above.generator !== true, guarded }
    if (above.type === 'TryStatement')
      guarded ||= above.block === below || (above.handler === below && above.finalizer !== null)
    below = above
  }
  return { asynchronous: false, guarded: false }
}

/** Functions and methods of this file that say, by their return type, that they give no promise. */
const knownSynchronous = (source: Source): Set<string> => {
  const names = new Set<string>()
  walk(source.program, (node, ancestors) => {
    const annotation =
      isFunction(node) && child(child(node, 'returnType') ?? node, 'typeAnnotation')
    if (!annotation || /\b(Promise|PromiseLike|any|unknown)\b/.test(textOf(source, annotation)))
      return
    const parent = ancestors.at(-1)
    const owner = child(node, 'id') ?? child(parent ?? node, 'key') ?? child(parent ?? node, 'id')
    if (owner?.type === 'Identifier' && node.async !== true) names.add(String(owner.name))
  })
  return names
}

const textOf = (source: Source, node: Node): string => source.text.slice(node.start, node.end)

/** In an async function, a call returned from inside `try` is awaited: else its failure passes by the `catch`. */
export const returnsAwaitInTry = (source: Source): Finding[] => {
  const found: Finding[] = []
  const known = knownSynchronous(source)
  const isSynchronous = (call: Node): boolean => {
    const name = dotted(child(call, 'callee')) ?? ''
    return synchronous.test(name) || known.has(name.slice(name.lastIndexOf('.') + 1))
  }
  walk(source.program, (node, ancestors) => {
    if (node.type !== 'ReturnStatement') return
    const calls = tails(child(node, 'argument')).filter(
      one => one.type === 'CallExpression' || one.type === 'ImportExpression',
    )
    const open = calls.filter(call => !isSynchronous(call))
    if (open.length === 0) return
    const { asynchronous, guarded } = guardOf(node, ancestors)
    const remedy =
      'Write `return await`; where the call returns no promise, name its result before you return it.'
    if (asynchronous && guarded)
      found.push(
        at(source, node, `A call returned from try passes by its catch and finally. ${remedy}`),
      )
  })
  return found
}

const notes = new RegExp(`\\b(?:FIX${'ME'}|TO${'DO'}|XX${'X'})\\b`)

export const hasNoNotes = (path: string, text: string): Finding[] =>
  text.split('\n').flatMap((line, index) => {
    const note = line.match(notes)?.[0]
    return note
      ? [
          {
            path,
            line: index + 1,
            message: `${note}: do it now, or open an issue and say there what is left.`,
          },
        ]
      : []
  })
