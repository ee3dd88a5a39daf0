/** Sources of an answer as OpenAI's `annotations`. https://ai.google.dev/api/generate-content#GroundingMetadata (2026-11) */
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'

export type Annotation = {
  type: 'url_citation'
  url_citation: {
    url: string
    title: string
    start_index: number
    end_index: number
    content?: string
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const numberOf = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

/** The API counts UTF-8 bytes, our clients characters as JavaScript has them. */
class Places {
  readonly #bytes: Buffer

  constructor(text: string) {
    this.#bytes = Buffer.from(text)
  }

  at(byte: unknown): number {
    return this.#bytes.toString('utf8', 0, numberOf(byte)).length
  }
}

const annotation = (source: Fields, start: number, end: number, content: string): Annotation => {
  const url = textOf(source.uri)
  const place = { url, title: textOf(source.title) || url, start_index: start, end_index: end }
  return { type: 'url_citation', url_citation: content === '' ? place : { ...place, content } }
}

/** What a source is told in: the web, a map, or documents of one's own, which need not have an address. */
const sourceOf = (chunk: unknown): Fields => {
  const { web, maps, retrievedContext } = fieldsOf(chunk)
  return fieldsOf(web ?? maps ?? retrievedContext)
}

const grounded = (metadata: Fields, places: Places): Annotation[] => {
  const sources = listOf(metadata.groundingChunks).map(sourceOf)
  const found: Annotation[] = []
  const used = new Set<unknown>()
  for (const support of listOf(metadata.groundingSupports)) {
    const { segment, groundingChunkIndices } = fieldsOf(support)
    const { startIndex, endIndex, text } = fieldsOf(segment)
    for (const index of listOf(groundingChunkIndices)) {
      const source = typeof index === 'number' ? sources[index] : undefined
      if (source === undefined || textOf(source.uri) === '') continue
      used.add(source)
      found.push(annotation(source, places.at(startIndex), places.at(endIndex), textOf(text)))
    }
  }
  // Read, but bound to no place in the text.
  for (const source of sources)
    if (textOf(source.uri) !== '' && !used.has(source)) found.push(annotation(source, 0, 0, ''))
  return found
}

const recited = (metadata: Fields, places: Places): Annotation[] =>
  listOf(metadata.citations ?? metadata.citationSources)
    .filter(isFields)
    .filter(({ uri }) => textOf(uri) !== '')
    .map(one => annotation(one, places.at(one.startIndex), places.at(one.endIndex), ''))

/** `text`: all of the candidate's. */
export const annotationsOf = (
  grounding: unknown,
  citation: unknown,
  text: string,
): Annotation[] => {
  if (!isFields(grounding) && !isFields(citation)) return []
  const places = new Places(text)
  return [...grounded(fieldsOf(grounding), places), ...recited(fieldsOf(citation), places)]
}
