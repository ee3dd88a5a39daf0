/** What is asked and answered in a benchmark, known to the load generator and to the mock upstream alike. */

const model = 'openai/gpt-4o-mini'

/** nano-USD per token of that model ($0.15 and $0.60 per million), to check what the gateway charged. */
const price = { prompt: 150n, completion: 600n }

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

export const chargeNanoUsd = (jsonRequests: number, streams: number): bigint =>
  BigInt(jsonRequests) * cost(jsonUsage) + BigInt(streams) * cost(streamUsage)

const cost = (usage: { prompt_tokens: number; completion_tokens: number }): bigint =>
  BigInt(usage.prompt_tokens) * price.prompt + BigInt(usage.completion_tokens) * price.completion

/** The body of a request for a whole answer, `bytes` long. */
export const jsonBody = (bytes: number): string => padded({ model }, '', bytes)

export type Pace = {
  /** Before the first byte. */
  delayMs: number
  /** Between two chunks. */
  gapMs: number
}

/** The body of a request for a stream of 100 chunks; it tells the mock upstream its pace. */
export const streamBody = ({ delayMs, gapMs }: Pace): string =>
  padded({ model, stream: true }, `bench delay=${delayMs} gap=${gapMs};`, 200)

export const readPace = (body: string): Pace => {
  const [, delayMs = 0, gapMs = 0] = /bench delay=(\d+) gap=(\d+);/.exec(body) ?? []
  return { delayMs: Number(delayMs), gapMs: Number(gapMs) }
}

const padded = (fields: object, text: string, bytes: number): string => {
  const body = (content: string) =>
    JSON.stringify({ ...fields, messages: [{ role: 'user', content }] })
  return body(text.padEnd(text.length + bytes - body(text).length, 'what does the bridge cost? '))
}
