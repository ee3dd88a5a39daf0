/** What the tidy rules read: one file, parsed once, and a walk over its syntax tree. */
import { parseSync } from 'oxc-parser'

/** A syntax node as ESTree (with TypeScript's nodes) writes it. The rules look at a few fields only. */
export type Node = { type: string; start: number; end: number; [field: string]: unknown }

export type Source = {
  /** From the project's root, with `/`. */
  path: string
  text: string
  program: Node
  comments: { start: number; end: number; value: string }[]
  /** 1 for the first. */
  lineOf(offset: number): number
  lines: number
}

/** What a rule found. `message` names the remedy. */
export type Finding = { path: string; line: number; message: string }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const lineStarts = (text: string): number[] => {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** Raises an error for a file that does not parse: no rule may pass because it saw nothing. */
export const parse = (path: string, text: string): Source => {
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`)
  if (!isNode(program)) throw new Error(`${path} has no syntax tree`)
  const starts = lineStarts(text)
  const lineOf = (offset: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
  return {
    path,
    text,
    program,
    comments,
    lineOf,
    lines: text.replace(/\n$/, '').split('\n').length,
  }
}

export const child = (node: Node, field: string): Node | undefined => {
  const value = node[field]
  return isNode(value) ? value : undefined
}

export const children = (node: Node): Node[] =>
  Object.values(node).flatMap(value =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  )

/** Every node below (and with) this one, parents first; `ancestors` runs from the root to the parent. */
export const walk = (root: Node, visit: (node: Node, ancestors: readonly Node[]) => void): void => {
  const ancestors: Node[] = []
  const step = (node: Node): void => {
    visit(node, ancestors)
    ancestors.push(node)
    for (const below of children(node)) step(below)
    ancestors.pop()
  }
  step(root)
}

/** `process.env` of a member expression or identifier, `undefined` for anything else. */
export const dotted = (node: Node | undefined): string | undefined => {
  if (node?.type === 'Identifier') return String(node.name)
  if (node?.type !== 'MemberExpression' || node.computed === true) return undefined
  const object = dotted(child(node, 'object'))
  const property = child(node, 'property')
  return object !== undefined && property?.type === 'Identifier'
    ? `${object}.${property.name}`
    : undefined
}

/** The text of a string literal, or of a template with its holes as `?`. */
export const stringValue = (node: Node): string | undefined => {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return undefined
  return node.quasis.map(quasi => (isNode(quasi) ? cooked(quasi) : '')).join('?')
}

const cooked = (quasi: Node): string => {
  const value = quasi.value
  return typeof value === 'object' && value !== null && 'raw' in value ? String(value.raw) : ''
}

export const isFunction = (node: Node): boolean =>
  node.type === 'FunctionDeclaration' ||
  node.type === 'FunctionExpression' ||
  node.type === 'ArrowFunctionExpression'

/** The first segment below `src/`: a folder, or a file of the top (`errors.ts`). `undefined` outside `src/`. */
export const layerOf = (path: string): string | undefined => path.match(/^src\/([^/]+)/)?.[1]

/** A comment stands on one of these lines, or ends on the line before them. */
export const hasCommentAt = (
  source: Source,
  fromLine: number,
  toLine: number,
  pattern = /\S/,
): boolean =>
  source.comments.some(
    comment =>
      source.lineOf(comment.end) >= fromLine - 1 &&
      source.lineOf(comment.start) <= toLine &&
      pattern.test(comment.value),
  )

/** A finding at a node. */
export const at = (source: Source, node: { start: number }, message: string): Finding => ({
  path: source.path,
  line: source.lineOf(node.start),
  message,
})
