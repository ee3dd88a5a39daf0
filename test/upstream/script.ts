/**
 * What a scripted upstream answers, said by the request itself: the text of the last user message is a `Script` as
 * JSON. So any number of concurrent requests share no state. A message that is no JSON object gets the default answer.
 */
import { z } from 'zod'

const count = z.int().min(0)

export const ScriptSchema = z.strictObject({
  /** Names the request in the upstream's ledger; else the header `x-request-id`, else a number. */
  id: z.string().optional(),

  // The answer: `chunks` × `tokensPerChunk` words, cut at the request's maximum with finish reason `length`.
  chunks: count.default(5),
  tokensPerChunk: count.default(1),
  finishReason: z.string().default('stop'),
  /** Answers with one tool call instead of words; its arguments are streamed in `chunks` pieces. */
  toolCall: z.strictObject({ name: z.string(), arguments: z.string() }).optional(),
  /** Produces all its tokens, whatever maximum the request names. */
  ignoreMaximum: z.boolean().default(false),
  promptTokens: count.default(10),

  // Time.
  /** Before the head. */
  delayMs: count.default(0),
  /** Between head and first chunk. */
  silentMs: count.default(0),
  /** Before each chunk but the first. */
  gapMs: count.default(0),

  // Refusals.
  status: z.int().min(200).max(599).default(200),
  headers: z.record(z.string(), z.string()).default({}),
  /** Sent as it is, instead of an answer or of OpenAI's error shape. */
  body: z.string().optional(),

  // Faults. The counts are chunks; in a whole answer the fault comes after half of the body.
  hangBeforeHead: z.boolean().default(false),
  dieBeforeHead: z.boolean().default(false),
  hangAfter: count.optional(),
  dieAfter: count.optional(),
  /** An event with a top-level `error`, then the end without `[DONE]`. */
  errorAfter: count.optional(),
  /** Ends the body cleanly, but early. */
  endAfter: count.optional(),
  /** Bytes that are not this format: in a stream after `garbageAfter` chunks (0). */
  garbage: z.boolean().default(false),
  garbageAfter: count.default(0),
  noDone: z.boolean().default(false),
  noFinishReason: z.boolean().default(false),
  /** Comment lines and an unknown event between chunks. */
  noise: z.boolean().default(false),
  /** Cuts the stream's bytes into pieces of this size, each written alone. */
  cutBytes: z.int().min(1).optional(),

  // Usage.
  noUsage: z.boolean().default(false),
  /** Replaces fields of the usage reported: the place for lies. */
  usage: z.looseObject({}).optional(),
  /** Running usage in every chunk, as some upstreams report it. */
  usageInChunks: z.boolean().default(false),
  /** Reports usage in a stream even where `stream_options.include_usage` was not asked for. */
  usageUnasked: z.boolean().default(false),
})

export type Script = z.infer<typeof ScriptSchema>
/** A script as a test writes it: what is missing has its default. */
export type ScriptInput = z.input<typeof ScriptSchema>

/** The content of the last user message that makes a scripted upstream answer so. */
export const script = (wanted: ScriptInput): string => JSON.stringify(wanted)

/** Raises `ZodError` for a script that has an unknown or impossible field. */
export const readScript = (body: unknown, defaults: ScriptInput = {}): Script => {
  const text = lastUserText(body)
  return ScriptSchema.parse(text.startsWith('{') ? { ...defaults, ...JSON.parse(text) } : defaults)
}

const Body = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).catch([]),
})
const Parts = z.array(z.looseObject({ text: z.string().catch('') })).catch([])

const lastUserText = (body: unknown): string => {
  const messages = Body.safeParse(body).data?.messages ?? []
  const content = messages.findLast(({ role }) => role === 'user')?.content
  if (typeof content === 'string') return content
  return Parts.parse(content)
    .map(({ text }) => text)
    .join('')
}
