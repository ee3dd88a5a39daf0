/** What an update of the facts may not do unasked: a slip in a source would be charged to every account. */
import type { Facts } from './model-facts.ts'

/** A price that moved further than this, either way, is held to be a mistake. */
const mostMove = 10
const contextTokens = { least: 256, most: 20_000_000 }

type Models = Readonly<Record<string, Facts>>

/** Why these facts can't replace `last`, by model id; `accepted` ids are let through. */
export const refuseWild = (
  next: Models,
  last: Models,
  accepted: ReadonlySet<string> = new Set(),
): [id: string, reason: string][] => {
  const refused: [string, string][] = []
  for (const [id, facts] of Object.entries(next)) {
    if (accepted.has(id)) continue
    const before = last[id]
    const reason = wildPrice(facts, before) ?? wildSize(facts, before)
    if (reason !== undefined) refused.push([id, reason])
  }
  return refused
}

const moved = (from: number, to: number): boolean => to > from * mostMove || from > to * mostMove

/** Floats, since they only compare. */
const wildPrice = ({ price }: Facts, before: Facts | undefined): string | undefined => {
  if (!price || !before?.price) return undefined
  const [input, output] = price
  const [inputBefore, outputBefore] = before.price
  if (moved(Number(inputBefore), Number(input))) return `input ${inputBefore} → ${input} USD`
  if (moved(Number(outputBefore), Number(output))) return `output ${outputBefore} → ${output} USD`
  return undefined
}

const wildSize = ({ context, output }: Facts, before: Facts | undefined): string | undefined => {
  if (context !== undefined && (context < contextTokens.least || context > contextTokens.most))
    return `a context of ${context} tokens`
  if (output !== undefined && (output < 1 || output > (context ?? contextTokens.most)))
    return `an output of ${output} tokens in a context of ${context ?? 'unknown size'}`
  if (context && before?.context && moved(before.context, context))
    return `context ${before.context} → ${context} tokens`
  return undefined
}

/** What changed, in words, one line a model. */
export const changesBetween = (next: Models, last: Models): string[] => {
  const ids = [...new Set([...Object.keys(last), ...Object.keys(next)])].sort()
  return ids.flatMap(id => {
    const [before, after] = [last[id], next[id]]
    if (!before) return [`+ ${id}`]
    if (!after) return [`- ${id}`]
    const [had, has] = [partsOf(before), partsOf(after)]
    const parts = [...new Set([...had.keys(), ...has.keys()])]
      .filter(key => had.get(key) !== has.get(key))
      .map(key => `${key} ${had.get(key) ?? '-'} → ${has.get(key) ?? '-'}`)
    return parts.length === 0 ? [] : [`~ ${id}: ${parts.join(', ')}`]
  })
}

const partsOf = (facts: Facts): ReadonlyMap<string, string> =>
  new Map(Object.entries(facts).map(([key, value]) => [key, JSON.stringify(value)]))
