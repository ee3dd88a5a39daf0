/**
 * What a client reads: our chat completion, whole and in chunks, as schemas. They describe and they test; no answer is
 * validated while it is served. Fields that a provider adds of its own pass through, so the objects are open.
 */
import { z } from 'zod'
import { finishReasons } from './chat.ts'

const tokens = (description: string) => z.int().min(0).describe(description)
const usd = (description: string) => z.number().describe(description)

const finishReason = z.enum(finishReasons)

const nativeFinishReason = z
  .string()
  .nullable()
  .optional()
  .describe("The provider's own word for why the answer ended.")

const UsageSchema = z
  .object({
    prompt_tokens: tokens('All tokens of the prompt, cached ones included.'),
    completion_tokens: tokens('All tokens of the answer, reasoning included.'),
    total_tokens: tokens('Both together.'),
    prompt_tokens_details: z.object({
      cached_tokens: tokens('Read from a cache, at its lower rate.'),
      cache_write_tokens: tokens('Written to a cache.'),
      audio_tokens: tokens('Of audio.'),
    }),
    completion_tokens_details: z.object({
      reasoning_tokens: tokens('Spent on reasoning.'),
      audio_tokens: tokens('Of audio.'),
    }),
    cost: usd(
      'What left the balance, in USD. For display; the receipt has it as an exact decimal string.',
    ),
    cost_details: z.object({
      upstream_inference_cost: usd('The price of all that was used.'),
      upstream_inference_prompt_cost: usd('The part of the prompt and of fees.'),
      upstream_inference_completions_cost: usd('The part of the answer.'),
    }),
    estimated: z
      .literal(true)
      .optional()
      .describe('Present where the provider reported no usage and the gateway counted.'),
  })
  .describe('What the answer used and cost. Always present, streamed or not.')

const Message = z.looseObject({
  role: z.literal('assistant'),
  content: z.string().nullable().describe('The text of the answer.'),
  refusal: z.string().nullable().describe('What the model said when it declined.'),
  reasoning: z
    .string()
    .nullable()
    .optional()
    .describe('The reasoning, where the provider shows it.'),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string(),
        type: z.string(),
        function: z.object({ name: z.string(), arguments: z.string() }).optional(),
      }),
    )
    .optional()
    .describe('The functions that the model wants called.'),
})

const Delta = z.looseObject({
  role: z.literal('assistant').optional(),
  content: z.string().nullable().optional().describe('The next piece of the text.'),
  refusal: z.string().nullable().optional(),
  reasoning: z.string().nullable().optional().describe('The next piece of the reasoning.'),
  tool_calls: z
    .array(
      z.looseObject({
        index: z.int(),
        id: z.string().optional(),
        type: z.string().optional(),
        function: z
          .object({ name: z.string().optional(), arguments: z.string().optional() })
          .optional(),
      }),
    )
    .optional()
    .describe('The next pieces of tool calls, by `index`.'),
})

const answered = {
  id: z
    .string()
    .describe('The generation: ask `GET /generation` for its receipt. Also in `X-Generation-Id`.'),
  created: z.int().describe('Unix seconds.'),
  model: z.string().describe('The model id that served.'),
  provider: z.string().describe('Who served it.'),
}

export const ChatCompletionSchema = z.looseObject({
  ...answered,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: Message,
      logprobs: z.unknown().describe('As the provider gave them, or null.'),
      finish_reason: finishReason,
      native_finish_reason: nativeFinishReason,
    }),
  ),
  usage: UsageSchema,
})

export const ChatChunkSchema = z.looseObject({
  ...answered,
  object: z.literal('chat.completion.chunk'),
  choices: z
    .array(
      z.looseObject({
        index: z.int(),
        delta: Delta,
        logprobs: z.unknown().describe('As the provider gave them, or null.'),
        finish_reason: finishReason.nullable(),
        native_finish_reason: nativeFinishReason,
      }),
    )
    .describe('Empty in the chunk that carries `usage`, the last before `[DONE]`.'),
  usage: UsageSchema.nullable().optional(),
  error: z
    .looseObject({ message: z.string(), code: z.string() })
    .optional()
    .describe(
      'Present where the answer broke off: the last event of such a stream, without `[DONE]`.',
    ),
})
