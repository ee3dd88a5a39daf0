/** The names most like a wrong one, by shared trigrams: cheap enough for a request that fails anyway. */

const most = 5
/** Longer ones are cut: nothing in the catalogue is longer, and a caller must not choose the work. */
const longest = 96
/** Of the trigrams of both names, the part that they must share. */
const alike = 0.35
/** What being of the provider asked for is worth beside that. */
const sameProvider = 0.2

const trigrams = (name: string): Set<string> => {
  const text = `  ${name.slice(0, longest).toLowerCase()} `
  const found = new Set<string>()
  for (let i = 0; i + 3 <= text.length; i++) found.add(text.slice(i, i + 3))
  return found
}

const splitId = (id: string): [provider: string, name: string] => {
  const slash = id.indexOf('/')
  return [id.slice(0, slash), id.slice(slash + 1)]
}

type Index = { holders: Map<string, number[]>; sizes: number[]; providers: string[] }

const buildIndex = (ids: readonly string[]): Index => {
  const index: Index = { holders: new Map(), sizes: [], providers: [] }
  for (const [position, id] of ids.entries()) {
    const [provider, name] = splitId(id)
    const own = trigrams(name)
    index.sizes.push(own.size)
    index.providers.push(provider)
    for (const trigram of own) {
      const holders = index.holders.get(trigram)
      if (holders) holders.push(position)
      else index.holders.set(trigram, [position])
    }
  }
  return index
}

/** Answers which of the model ids are nearest to a wrong one, best first; the index is made at the first question. */
export const nearestNames = (ids: readonly string[]): ((wrong: string) => string[]) => {
  let index: Index | undefined
  return wrong => {
    index ??= buildIndex(ids)
    const { holders, sizes, providers } = index
    const [provider, name] = splitId(wrong)
    const asked = trigrams(name)
    const shared = new Map<number, number>()
    for (const trigram of asked) {
      for (const position of holders.get(trigram) ?? []) {
        shared.set(position, (shared.get(position) ?? 0) + 1)
      }
    }
    const scored: { id: string; score: number }[] = []
    for (const [position, count] of shared) {
      const score = (2 * count) / (asked.size + (sizes[position] ?? 0))
      if (score < alike) continue
      const near = providers[position] === provider ? sameProvider : 0
      scored.push({ id: ids[position] ?? '', score: score + near })
    }
    scored.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    return scored.slice(0, most).map(({ id }) => id)
  }
}
