/** The names most like a wrong one, by shared trigrams: cheap enough for a request that fails anyway. */

const most = 5
/** Longer ones are cut: nothing in the catalogue is longer, and a caller must not choose the work. */
const longest = 96
/** Of the trigrams of both names, the part that they must share. */
const alike = 0.35

const trigrams = (name: string): Set<string> => {
  const text = `  ${name.slice(0, longest).toLowerCase()} `
  const found = new Set<string>()
  for (let i = 0; i + 3 <= text.length; i++) found.add(text.slice(i, i + 3))
  return found
}

/** Answers `nearest(name)` among `names`, best first; the index is made at the first question. */
export const nearestNames = (names: readonly string[]): ((wrong: string) => string[]) => {
  let index: { holders: Map<string, number[]>; sizes: number[] } | undefined
  const build = () => {
    const holders = new Map<string, number[]>()
    const sizes = names.map((name, position) => {
      const own = trigrams(name)
      for (const trigram of own) {
        const list = holders.get(trigram)
        if (list) list.push(position)
        else holders.set(trigram, [position])
      }
      return own.size
    })
    return { holders, sizes }
  }
  return wrong => {
    index ??= build()
    const { holders, sizes } = index
    const asked = trigrams(wrong)
    const shared = new Map<number, number>()
    for (const trigram of asked) {
      for (const position of holders.get(trigram) ?? [])
        shared.set(position, (shared.get(position) ?? 0) + 1)
    }
    return [...shared]
      .map(([position, count]) => ({
        position,
        score: (2 * count) / (asked.size + (sizes[position] ?? 0)),
      }))
      .filter(({ score }) => score >= alike)
      .sort((a, b) => b.score - a.score || a.position - b.position)
      .slice(0, most)
      .map(({ position }) => names[position] ?? '')
  }
}
