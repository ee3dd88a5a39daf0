/**
 * Arguments of a call that come leaf by leaf, each under its JSON path (`$.recipe.steps[2]`).
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc (2026-11)
 */
import { fieldsOf, isFields, textOf } from '../wire/fields.ts'

type Container = { [key: string]: unknown }

/** Far beyond real arguments, so that a broken path can't grow a list without end. */
const maxIndex = 10_000
const maxDepth = 64

const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy

/** Keys and list places of a path; empty where it is none. */
const parsePath = (path: string): (string | number)[] => {
  if (!path.startsWith('$')) return []
  const steps: (string | number)[] = []
  step.lastIndex = 1
  for (let found = step.exec(path); found; found = step.exec(path)) {
    const key = found[1] ?? (found[3] ?? found[4])?.replace(/\\(.)/g, '$1')
    steps.push(key ?? Math.min(Number(found[2]), maxIndex))
    if (step.lastIndex === path.length) return steps.length <= maxDepth ? steps : []
  }
  return []
}

/** Without a prototype, so that a key such as `__proto__` is a key like any other. */
const emptyObject = (): Container => Object.create(null)

const emptyFor = (key: string | number): unknown => (typeof key === 'number' ? [] : emptyObject())

const scalarOf = (argument: Container): unknown => {
  if (typeof argument.stringValue === 'string') return argument.stringValue
  if (typeof argument.numberValue === 'number') return argument.numberValue
  return typeof argument.boolValue === 'boolean' ? argument.boolValue : null
}

export class PartialArguments {
  readonly #root = emptyObject()

  add(partials: unknown): void {
    if (!Array.isArray(partials)) return
    for (const partial of partials) {
      const argument = { ...fieldsOf(partial) }
      this.#set(parsePath(textOf(argument.jsonPath)), scalarOf(argument))
    }
  }

  toString(): string {
    return JSON.stringify(this.#root)
  }

  #set(path: readonly (string | number)[], value: unknown): void {
    let at: Container = this.#root
    for (const [i, key] of path.entries()) {
      const next = path[i + 1]
      if (next === undefined) {
        const before = at[key]
        // Pieces of one text follow each other.
        at[key] = typeof before === 'string' && typeof value === 'string' ? before + value : value
        return
      }
      const known = at[key]
      const inner = isFields(known) || Array.isArray(known) ? known : emptyFor(next)
      at[key] = inner
      // `as`: a list is written like an object here.
      at = inner as Container
    }
  }
}
