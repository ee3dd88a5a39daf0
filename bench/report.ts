/** From rounds of figures to one Markdown table. */

export type Row = {
  what: string
  connections?: number
  unit: 'µs' | 'ms' | '/s' | 'MiB' | 'KiB'
  /** One figure a round. */
  direct?: number[]
  floor?: number[]
  gateway?: number[]
  /** The gateway again, with an upstream whose format is the client's. */
  passThrough?: number[]
  /** `ratio`: gateway ÷ floor; `translation`: gateway ÷ passThrough; `added`: gateway − direct. All round by round. */
  compare?: 'ratio' | 'translation' | 'added'
  /** The most that the comparison (without one: the gateway's figure) may be: for this stage, and in the end. */
  goal?: { now?: number; final: number } | undefined
}

export const quantile = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[Math.floor(middle)],
    sorted[Math.ceil(middle)],
  ]
  return (low + high) / 2
}

export const markdownTable = (rows: readonly Row[]): string => {
  const head = [
    '',
    'connections',
    'direct',
    'floor',
    'gateway',
    'gateway ÷ floor, or − direct (min–max)',
    'goal',
  ]
  const lines = rows.map(row => [
    row.what,
    row.connections?.toLocaleString('en') ?? '',
    figure(row.direct, row.unit),
    figure(row.floor, row.unit),
    figure(row.gateway, row.unit),
    comparison(row),
    goal(row),
  ])
  return [head, head.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** The comparison of each round, in the sense of `goal`. */
const compared = (row: Row): number[] => {
  const { compare, direct = [], floor = [], gateway = [], passThrough = [] } = row
  if (compare === undefined) return gateway
  const against = { ratio: floor, translation: passThrough, added: direct }[compare]
  if (against.length !== gateway.length) return []
  return gateway.map((value, round) =>
    compare === 'added'
      ? value - (against[round] ?? Number.NaN)
      : value / (against[round] ?? Number.NaN),
  )
}

const comparison = (row: Row): string => {
  const values = compared(row)
  if (row.compare === undefined || values.length === 0) return ''
  const format = (value: number): string =>
    row.compare === 'added' ? `${value < 0 ? '' : '+'}${value.toFixed(2)}` : value.toFixed(2)
  const unit = row.compare === 'added' ? ` ${row.unit}` : '×'
  const spread =
    values.length < 2 ? '' : ` (${format(Math.min(...values))}–${format(Math.max(...values))})`
  const than = row.passThrough ? ` of ${figure(row.passThrough, row.unit)} passed through` : ''
  return `${format(median(values))}${unit}${spread}${than}`
}

const goal = (row: Row): string => {
  if (!row.goal) return ''
  const value = median(compared(row))
  const isFactor = row.compare === 'ratio' || row.compare === 'translation'
  const unit = isFactor ? '×' : ` ${row.unit}`
  const judged = (most: number): string => {
    if (Number.isNaN(value)) return `≤ ${most}${unit}`
    return `≤ ${most}${unit} ${value <= most ? 'met' : 'missed'}`
  }
  const { now, final } = row.goal
  return now === undefined ? judged(final) : `${judged(now)}; final ${judged(final)}`
}

const figure = (values: readonly number[] | undefined, unit: Row['unit']): string => {
  if (!values) return ''
  const value = median(values)
  if (unit === '/s') return Math.round(value).toLocaleString('en')
  return `${value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)} ${unit}`
}
