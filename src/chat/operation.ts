import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { ChatRequestSchema } from '../wire/chat.ts'
import { ChatChunkSchema, ChatCompletionSchema } from '../wire/chat-response.ts'
import { exampleModel, exampleProvider } from '../wire/example.ts'
import type { Operation } from '../wire/operation.ts'

const answered = (object: string) => ({
  id: 'gen-01jd8m2f7x9v4h',
  object,
  created: 1_795_183_511,
  model: exampleModel,
  provider: exampleProvider,
})

const usage = {
  prompt_tokens: 11,
  completion_tokens: 46,
  total_tokens: 57,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  cost: 0.000195,
  cost_details: {
    upstream_inference_cost: 0.000195,
    upstream_inference_prompt_cost: 0.000011,
    upstream_inference_completions_cost: 0.000184,
  },
}

const event = (fields: object): string =>
  `data: ${JSON.stringify({ ...answered('chat.completion.chunk'), ...fields })}\n\n`

const choice = (delta: object, finish_reason: string | null) => ({
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
})

const streamed = [
  event(choice({ role: 'assistant', content: 'Hel' }, null)),
  event(choice({ content: 'lo!' }, null)),
  event(choice({}, 'stop')),
  event({ choices: [], usage }),
  'data: [DONE]\n\n',
].join('')

/** How `POST /chat/completions` is described. */
export const createChatCompletion: Operation<ErrorCode> = {
  id: 'createChatCompletion',
  method: 'post',
  path: '/chat/completions',
  group: 'Chat',
  title: 'Create a chat completion',
  description:
    'Takes the body that the SDKs of OpenAI send. The fields below are checked here; every other one (`stop`, `seed`, `tool_choice`, `logprobs`, …) passes through to the provider. What it can’t honour and would change the answer is refused with `unsupported_parameter`, never dropped in silence.',
  auth: 'apiKey',
  parameters: [
    {
      name: 'HTTP-Referer',
      in: 'header',
      required: false,
      schema: z.string(),
      description: 'The site of the calling application; kept with the receipt.',
    },
    {
      name: 'X-Title',
      in: 'header',
      required: false,
      schema: z.string(),
      description: 'The name of the calling application; kept with the receipt.',
    },
    {
      name: 'X-Request-Id',
      in: 'header',
      required: false,
      schema: z.string(),
      description: 'An id of your own: letters, digits and `_.:-`, up to 128. It comes back.',
    },
  ],
  body: {
    shape: { name: 'ChatRequest', schema: ChatRequestSchema },
    example: {
      model: exampleModel,
      messages: [{ role: 'user', content: 'Hello!' }],
      max_completion_tokens: 256,
    },
  },
  answer: {
    description: 'The whole answer, after its charge was made durable.',
    contentType: 'application/json',
    shape: { name: 'ChatCompletion', schema: ChatCompletionSchema },
    example: {
      ...answered('chat.completion'),
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello!', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'stop',
        },
      ],
      usage,
    },
  },
  stream: {
    description: 'With `stream: true`: events, each a `ChatChunk`.',
    contentType: 'text/event-stream',
    shape: { name: 'ChatChunk', schema: ChatChunkSchema },
    example: streamed,
  },
  headers: {
    'X-Generation-Id': 'The generation: ask `GET /generation` for its receipt.',
    'X-Max-Tokens-Capped':
      'Present where the balance lowered the longest answer; the number of tokens.',
  },
  refusals: [
    'invalid_request',
    'invalid_model_id',
    'unsupported_parameter',
    'context_length_exceeded',
    'content_policy',
    'missing_api_key',
    'malformed_authorization',
    'invalid_api_key',
    'api_key_disabled',
    'api_key_revoked',
    'api_key_expired',
    'insufficient_credits',
    'key_limit_reached',
    'model_not_allowed',
    'address_not_allowed',
    'account_suspended',
    'model_not_found',
    'request_timeout',
    'request_too_large',
    'unsupported_media_type',
    'rate_limit_exceeded',
    'concurrency_limit_exceeded',
    'provider_rate_limited',
    'provider_error',
    'provider_rejected_credentials',
    'provider_invalid_response',
    'provider_unavailable',
    'overloaded',
    'draining',
    'ledger_unavailable',
    'provider_timeout',
  ],
}
