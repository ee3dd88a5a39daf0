import type { JsonOption } from './command.ts'

/** Standard output gets the result: as JSON on one line, or as what people read. */
export const print = ({ json }: JsonOption, result: object, text: () => string): void => {
  process.stdout.write(`${json ? JSON.stringify(result) : text()}\n`)
}

/** `'-1.5'` → `-$1.50`: at least cents, and every digit there is. */
export const dollars = (usd: string): string => {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(usd) ?? []
  return whole === undefined ? usd : `${sign}$${whole}.${fraction.padEnd(2, '0')}`
}

/** `2026-11-21T08:30:26.886Z` → `2026-11-21 08:30:26Z` */
export const time = (iso: string | null): string =>
  iso === null ? '-' : `${iso.slice(0, 19).replace('T', ' ')}Z`

/** Names and notes are anyone's text: what would steer a terminal is shown as `?`. */
const plain = (text: string): string => text.replace(/\p{Cc}|\p{Bidi_Control}/gu, '?')

const isFigure = (cell: string): boolean => /^(-?\$?\d[\d.]*|-|)$/.test(cell)

const widthOf = (text: string): number => [...text].length

/** Aligned columns under their titles; figures to the right. */
export const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lines = [titles, ...rows.map(row => row.map(plain))]
  const widths = titles.map((_, column) =>
    lines.reduce((width, line) => Math.max(width, widthOf(line[column] ?? '')), 0),
  )
  const right = titles.map((_, column) => rows.every(row => isFigure(row[column] ?? '')))
  const align = (cell: string, column: number): string => {
    const pad = ' '.repeat((widths[column] ?? 0) - widthOf(cell))
    return right[column] ? pad + cell : cell + pad
  }
  return lines.map(line => line.map(align).join('  ').trimEnd()).join('\n')
}

/** One thing: a line for each of its properties. */
export const card = (lines: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...lines.map(([name]) => name.length))
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}`).join('\n')
}

/** Follows a page that isn't the last. */
export const moreAfter = ({
  data,
  has_more,
}: {
  data: readonly { id: string }[]
  has_more: boolean
}): string => (has_more ? `\nThere are more: --after ${data.at(-1)?.id}` : '')

export const count = (n: number, singular: string, plural: string): string =>
  `${n} ${n === 1 ? singular : plural}`
