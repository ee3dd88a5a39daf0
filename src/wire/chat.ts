/**
 * Our public chat shape, OpenAI's chat completion, and the hub that every dialect translates to and from.
 * Only the fields that the gateway itself uses are named; all others pass through untouched.
 * Source: https://platform.openai.com/docs/api-reference/chat (2026-11); the gateway's own fields are spelt as
 * OpenRouter does: https://openrouter.ai/docs/api-reference/overview (2026-11).
 */
import { z } from 'zod'

const ContentPart = z.looseObject({
  type: z.string().describe('`text`, `image_url`, `input_audio`, `file`, …'),
})

const ToolCall = z.looseObject({
  id: z.string().optional(),
  type: z.string().optional(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
})

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

const Message = z
  .looseObject({
    role: z.enum(roles),
    content: z
      .union([z.string(), z.array(ContentPart)])
      .nullish()
      .describe('Text, or parts. May be null only where an assistant called tools instead.'),
    tool_calls: z.array(ToolCall).nullish().describe('What an earlier answer called.'),
  })
  .refine(hasContent, {
    path: ['content'],
    message: 'content must be a string or an array of parts',
  })

/** Content may be absent only where something else says what the assistant answered. */
function hasContent(message: { role: string; content?: unknown; [key: string]: unknown }): boolean {
  if (message.content !== null && message.content !== undefined) return true
  if (message.role !== 'assistant') return false
  return Boolean(message.tool_calls ?? message.function_call ?? message.refusal ?? message.audio)
}

/** Far above any real model, and far below what would overflow a price. */
const tokenCount = z.int().min(1).max(100_000_000)

const ProviderPreferences = z.looseObject({
  order: z.array(z.string()).max(32).optional().describe('Providers, in the order to try.'),
  only: z.array(z.string()).max(32).optional().describe('No provider but these.'),
  ignore: z.array(z.string()).max(32).optional().describe('Never these.'),
  sort: z.enum(['price', 'throughput', 'latency']).optional().describe('What to prefer.'),
  allow_fallbacks: z.boolean().optional().describe('Whether another target may answer.'),
  require_parameters: z
    .boolean()
    .optional()
    .describe('Only targets that take every field of the request.'),
})

export const ChatRequestSchema = z.looseObject({
  model: z
    .string()
    .min(1)
    .max(512)
    .describe('`<provider>/<model_name>`, as `GET /models` lists it.'),
  messages: z.array(Message).min(1).max(100_000).describe('The conversation so far.'),
  stream: z.boolean().nullish().describe('Answer by events instead of whole.'),
  stream_options: z
    .looseObject({ include_usage: z.boolean().optional() })
    .nullish()
    .describe('Taken, but not needed: a stream always ends with its usage.'),
  max_tokens: tokenCount.nullish().describe('The older name of `max_completion_tokens`.'),
  max_completion_tokens: tokenCount
    .nullish()
    .describe('The longest answer to pay for, reasoning included. It bounds what is held.'),
  n: z.int().min(1).max(128).nullish().describe('How many answers to make; each is paid.'),
  temperature: z.number().min(0).max(2).nullish().describe('How much chance decides.'),
  top_p: z.number().min(0).max(1).nullish().describe('Chance among the likeliest tokens only.'),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(1024)
    .nullish()
    .describe('Functions that the model may call. Tools that a provider itself runs are refused.'),
  response_format: z
    .looseObject({ type: z.string() })
    .nullish()
    .describe('`text`, `json_object`, or `json_schema` with a schema.'),
  service_tier: z.string().nullish().describe('Only the default tier is priced here.'),
  web_search_options: z.looseObject({}).nullish().describe('Not priced here, so refused.'),
  models: z
    .array(z.string().min(1).max(512))
    .max(16)
    .nullish()
    .describe('Models to fall back to, in order. Reserved: not acted upon yet.'),
  provider: ProviderPreferences.nullish().describe(
    'Which providers may serve. Reserved: not acted upon yet.',
  ),
  reasoning: z
    .looseObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      max_tokens: tokenCount.nullish().describe('The most tokens to reason with.'),
      exclude: z.boolean().nullish().describe('Leave the reasoning out of the answer.'),
    })
    .nullish()
    .describe('How much to reason before answering, for models that do.'),
  usage: z
    .looseObject({ include: z.boolean().optional() })
    .nullish()
    .describe('Taken, but not needed: usage always comes.'),
})

export type ChatRequest = z.infer<typeof ChatRequestSchema>

export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'error'] as const
export type FinishReason = (typeof finishReasons)[number]

export type ToolCallDelta = {
  index: number
  id?: string
  type?: 'function'
  function?: { name?: string; arguments?: string }
  [extra: string]: unknown
}

export type ChatDelta = {
  role?: 'assistant'
  content?: string | null
  refusal?: string | null
  reasoning?: string | null
  tool_calls?: ToolCallDelta[]
  [extra: string]: unknown
}

export type ChunkChoice = {
  index: number
  delta: ChatDelta
  logprobs: unknown
  finish_reason: FinishReason | null
  native_finish_reason?: string | null
}

/**
 * One streamed event, less what is the same in every event of a stream: `id`, `object`, `created`, `model` and
 * `provider` are the gateway's and are stamped by the relay.
 */
export type ChatChunk = { choices: ChunkChoice[]; [extra: string]: unknown }

export type AnswerMessage = {
  role: 'assistant'
  content: string | null
  refusal: string | null
  reasoning?: string | null
  tool_calls?: {
    id: string
    type: 'function'
    function: { name: string; arguments: string }
    [extra: string]: unknown
  }[]
  [extra: string]: unknown
}

export type AnswerChoice = {
  index: number
  message: AnswerMessage
  logprobs: unknown
  finish_reason: FinishReason
  native_finish_reason?: string | null
}

/** A whole answer, less what the relay stamps (see `ChatChunk`) and less `usage`, which the meter writes. */
export type ChatAnswer = { choices: AnswerChoice[]; [extra: string]: unknown }
