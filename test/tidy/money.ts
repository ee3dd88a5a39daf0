/** No float touches money. */
import {
  at,
  child,
  dotted,
  type Finding,
  hasCommentAt,
  layerOf,
  type Node,
  type Source,
  walk,
} from './source.ts'

const floatCall = /^(Number|parseFloat|Number\.parseFloat)$/
const remedy =
  'Money is bigint nano-USD; where the value is no money, say so on the line: // not money: …'

const isFloatLiteral = (node: Node): boolean =>
  node.type === 'Literal' && typeof node.value === 'number' && /^[^x]*[.e]/i.test(String(node.raw))

/** In `src/ledger/`: no `Number()`, `parseFloat` or float literal, save where the line says `not money`. */
export const ledgerHasNoFloats = (source: Source): Finding[] => {
  if (layerOf(source.path) !== 'ledger') return []
  const found: Finding[] = []
  walk(source.program, node => {
    const callee = node.type === 'CallExpression' ? dotted(child(node, 'callee')) : undefined
    const what =
      callee && floatCall.test(callee)
        ? `${callee}()`
        : isFloatLiteral(node)
          ? String(node.raw)
          : undefined
    const line = source.lineOf(node.start)
    if (what !== undefined && !hasCommentAt(source, line, line, /not money/))
      found.push(at(source, node, `${what} makes a float in the ledger. ${remedy}`))
  })
  return found
}

/** A name that ends in `NanoUsd` is never typed `number`. */
export const nanoUsdIsBigint = (source: Source): Finding[] => {
  const found: Finding[] = []
  walk(source.program, (node, ancestors) => {
    if (node.type !== 'TSNumberKeyword') return
    const owner = ancestors.at(-2)
    const name = owner && (owner.type === 'Identifier' ? owner.name : child(owner, 'key')?.name)
    if (typeof name === 'string' && /nanoUsd$/i.test(name))
      found.push(
        at(
          source,
          node,
          `${name} is typed number. A number loses nano-USD above 9 million USD: use bigint.`,
        ),
      )
  })
  return found
}
