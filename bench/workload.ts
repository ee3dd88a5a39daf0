/** What is asked and answered in a benchmark, known to the load generator and to the mock upstream alike. */

/** The formats of upstreams: the first is passed through, the others are translated. */
export type Wire = 'chat-completions' | 'anthropic-messages' | 'gemini'
export type TranslatedWire = Exclude<Wire, 'chat-completions'>

/**
 * The model asked for where that format is wanted, and its published rates in nano-USD per token ($0.15 and $0.60, $1
 * and $5, $0.30 and $2.50 per million), to check what the gateway charged.
 */
const models: Readonly<Record<Wire, { id: string; prompt: bigint; completion: bigint }>> = {
  'chat-completions': { id: 'openai/gpt-4o-mini', prompt: 150n, completion: 600n },
  'anthropic-messages': { id: 'anthropic/claude-haiku-4-5', prompt: 1_000n, completion: 5_000n },
  gemini: { id: 'google/gemini-2.5-flash', prompt: 300n, completion: 2_500n },
}

/** What the mock upstream reports, whatever it is asked. */
export const jsonUsage = { prompt_tokens: 20, completion_tokens: 200, total_tokens: 220 }
export const chunksPerStream = 100
export const streamUsage = {
  prompt_tokens: 20,
  completion_tokens: chunksPerStream,
  total_tokens: 120,
}
/** Content chunks, one with the finish reason, one with the usage, `[DONE]`. */
export const eventsPerStream = chunksPerStream + 3

/** How many whole answers, and how many streams by the upstream's format. */
export type Served = { json: number; streams: Record<Wire, number> }

export const nothingServed = (): Served => ({
  json: 0,
  streams: { 'chat-completions': 0, 'anthropic-messages': 0, gemini: 0 },
})

export const answersOf = ({ json, streams }: Served): number =>
  Object.values(streams).reduce((sum, count) => sum + count, json)

export const chargeNanoUsd = ({ json, streams }: Served): bigint => {
  const wires: readonly Wire[] = ['chat-completions', 'anthropic-messages', 'gemini']
  return wires.reduce(
    (sum, wire) => sum + BigInt(streams[wire]) * cost(streamUsage, wire),
    BigInt(json) * cost(jsonUsage, 'chat-completions'),
  )
}

const cost = (usage: { prompt_tokens: number; completion_tokens: number }, wire: Wire): bigint =>
  BigInt(usage.prompt_tokens) * models[wire].prompt +
  BigInt(usage.completion_tokens) * models[wire].completion

/** The body of a request for a whole answer, `bytes` long. */
export const jsonBody = (bytes: number): string =>
  padded({ model: models['chat-completions'].id }, '', bytes)

export type Pace = {
  /** Before the first byte. */
  delayMs: number
  /** Between two chunks. */
  gapMs: number
}

/** The body of a request for a stream of 100 chunks; it tells the mock upstream its pace. */
export const streamBody = ({ delayMs, gapMs }: Pace, wire: Wire = 'chat-completions'): string =>
  padded({ model: models[wire].id, stream: true }, `bench delay=${delayMs} gap=${gapMs};`, 200)

export const readPace = (body: string): Pace => {
  const [, delayMs = 0, gapMs = 0] = /bench delay=(\d+) gap=(\d+);/.exec(body) ?? []
  return { delayMs: Number(delayMs), gapMs: Number(gapMs) }
}

const padded = (fields: object, text: string, bytes: number): string => {
  const body = (content: string) =>
    JSON.stringify({ ...fields, messages: [{ role: 'user', content }] })
  return body(text.padEnd(text.length + bytes - body(text).length, 'what does the bridge cost? '))
}
