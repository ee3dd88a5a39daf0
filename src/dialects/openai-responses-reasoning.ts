/**
 * Reasoning in OpenAI's Responses format, both ways. What a model has thought is handed out encrypted and must come
 * back as it was, in its place among the items of the answer. `reasoning_details` are spelt as OpenRouter does:
 * https://openrouter.ai/docs/use-cases/reasoning-tokens (2026-11); `index` counts the items that a client can send back.
 */
import { type Fields, isFields, textOf } from '../wire/fields.ts'

/** Names whose items these are: another provider's would be refused. */
export const reasoningFormat = 'openai-responses-v1'

export type ReasoningItem = {
  type: 'reasoning'
  id?: string
  summary: { type: 'summary_text'; text: string }[]
  content?: { type: 'reasoning_text'; text: string }[]
  encrypted_content?: string
}

export type PlacedReasoning = { item: ReasoningItem; place: number | null }

/** Between the parts of what was thought. */
export const partBreak = '\n\n'

const maxParts = 1024

/** A detail, or the piece of one that a stream tells. */
export const reasoningDetail = (
  kind: 'summary' | 'text' | 'encrypted',
  content: string,
  index: number,
  part: number,
): Record<string, unknown> => {
  const field = kind === 'encrypted' ? 'data' : kind
  const detail = { type: `reasoning.${kind}`, [field]: content, index }
  return part > 0 ? { ...detail, part } : detail
}

/** The texts of a summary, or of the reasoning itself where a model shows it. */
export const partsOf = (parts: unknown): string[] =>
  Array.isArray(parts) ? parts.map(part => (isFields(part) ? textOf(part.text) : '')) : []

/** What an item of an answer says; `index`: its place. */
export const readReasoning = (item: Fields, index: number): { text: string; details: Fields[] } => {
  const details: Record<string, unknown>[] = []
  const texts: string[] = []
  for (const [kind, parts] of [
    ['text', partsOf(item.content)],
    ['summary', partsOf(item.summary)],
  ] as const) {
    for (const [part, text] of parts.entries()) {
      if (text === '') continue
      texts.push(text)
      details.push(reasoningDetail(kind, text, index, part))
    }
  }
  const data = textOf(item.encrypted_content)
  if (data !== '') details.push(reasoningDetail('encrypted', data, index, 0))
  const id = textOf(item.id)
  for (const detail of details) Object.assign(detail, id === '' ? {} : { id })
  for (const detail of details) detail.format = reasoningFormat
  return { text: texts.join(partBreak), details }
}

type Open = {
  key: unknown
  place: number | null
  id: string
  summary: string[]
  content: string[]
  encrypted: string
}

const isOurs = ({ format }: Fields): boolean =>
  format === undefined || format === null || textOf(format).startsWith(reasoningFormat)

/** Ours by its name, or, where a client has lost that, by the id. */
const isOurData = ({ format, id }: Fields): boolean =>
  textOf(format).startsWith(reasoningFormat) || (!format && textOf(id).startsWith('rs_'))

const join = (parts: string[], { part }: Fields, text: unknown): void => {
  const at = typeof part === 'number' && part >= 0 && part < maxParts ? part : 0
  parts[at] = (parts[at] ?? '') + textOf(text)
}

const said = (parts: readonly string[]): string[] => parts.filter(text => text)

const asItem = ({ id, summary, content, encrypted }: Open): ReasoningItem | null => {
  // A mere summary is no reasoning that could be taken up again.
  if (encrypted === '' && content.length === 0) return null
  const item: ReasoningItem = {
    type: 'reasoning',
    summary: said(summary).map(text => ({ type: 'summary_text', text })),
  }
  if (id !== '') item.id = id
  if (content.length > 0)
    item.content = said(content).map(text => ({ type: 'reasoning_text', text }))
  if (encrypted !== '') item.encrypted_content = encrypted
  return item
}

/**
 * An assistant message's `reasoning_details` as the items that they were, whole or in the pieces that a stream told.
 * What is another provider's, or nothing that could be replayed, is left out.
 */
export const reasoningItems = (details: unknown): PlacedReasoning[] => {
  const items: PlacedReasoning[] = []
  let open: Open | null = null
  const close = (): void => {
    const item = open && asItem(open)
    if (open && item) items.push({ item, place: open.place })
    open = null
  }
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isFields(detail) || !isOurs(detail)) continue
    const place = typeof detail.index === 'number' ? detail.index : null
    const key = place ?? (textOf(detail.id) || null)
    // What is encrypted comes last of an item.
    if (open && (open.key !== key || open.encrypted !== '')) close()
    open ??= { key, place, id: '', summary: [], content: [], encrypted: '' }
    open.id ||= textOf(detail.id)
    if (detail.type === 'reasoning.summary') join(open.summary, detail, detail.summary)
    else if (detail.type === 'reasoning.text') join(open.content, detail, detail.text)
    else if (detail.type === 'reasoning.encrypted' && isOurData(detail))
      open.encrypted = textOf(detail.data)
  }
  close()
  return items
}
