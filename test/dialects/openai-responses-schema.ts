/**
 * What a request to OpenAI's Responses API may hold, of all that we send. The specs beside the recordings have no schema
 * of it; this one follows the types of OpenAI's own SDK: `ResponseCreateParams` of openai 6.49.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { complaints } from './proof.ts'

const text = { type: 'string' }
const oneOf = (...values: unknown[]) => ({ enum: values })

const object = (
  required: Record<string, object | boolean>,
  optional: Record<string, object | boolean> = {},
) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(required),
  properties: { ...required, ...optional },
})

const breakpoint = { prompt_cache_breakpoint: object({ mode: oneOf('explicit') }) }
const detail = { detail: oneOf('low', 'high', 'auto', 'original') }

const inputPart = {
  oneOf: [
    object({ type: oneOf('input_text'), text }, breakpoint),
    object({ type: oneOf('input_image'), image_url: text }, { ...detail, ...breakpoint }),
    object(
      { type: oneOf('input_file') },
      { file_data: text, file_id: text, file_url: text, filename: text, ...breakpoint },
    ),
  ],
}
const outputPart = {
  oneOf: [
    object({ type: oneOf('output_text'), text }),
    object({ type: oneOf('refusal'), refusal: text }),
  ],
}
const contentOf = (part: object) => ({ anyOf: [text, { type: 'array', minItems: 1, items: part }] })
const partList = (type: string) => ({ type: 'array', items: object({ type: oneOf(type), text }) })
const output = { anyOf: [text, { type: 'array', items: inputPart }] }

const item = {
  oneOf: [
    object({
      type: oneOf('message'),
      role: oneOf('user', 'system', 'developer'),
      content: contentOf(inputPart),
    }),
    object(
      { type: oneOf('message'), role: oneOf('assistant'), content: contentOf(outputPart) },
      { phase: oneOf('commentary', 'final_answer') },
    ),
    object(
      { type: oneOf('reasoning'), summary: partList('summary_text') },
      { id: text, content: partList('reasoning_text'), encrypted_content: text },
    ),
    object({ type: oneOf('function_call'), call_id: text, name: text, arguments: text }),
    object({ type: oneOf('function_call_output'), call_id: text, output }),
    object({ type: oneOf('custom_tool_call'), call_id: text, name: text, input: text }),
    object({ type: oneOf('custom_tool_call_output'), call_id: text, output }),
  ],
}

const named = object({ type: oneOf('function', 'custom'), name: text })

const tool = {
  oneOf: [
    object(
      {
        type: oneOf('function'),
        name: text,
        parameters: { type: 'object' },
        strict: { type: 'boolean' },
      },
      { description: text },
    ),
    object({ type: oneOf('custom'), name: text }, { description: text, format: true }),
  ],
}

const format = {
  oneOf: [
    object({ type: oneOf('text', 'json_object') }),
    object(
      { type: oneOf('json_schema'), name: text, schema: { type: 'object' } },
      { description: text, strict: { type: 'boolean' } },
    ),
  ],
}

const request = object(
  { model: text, input: { type: 'array', minItems: 1, items: item }, store: oneOf(false) },
  {
    stream: { type: 'boolean' },
    tools: { type: 'array', minItems: 1, items: tool },
    tool_choice: {
      oneOf: [
        oneOf('auto', 'none', 'required'),
        named,
        object({
          type: oneOf('allowed_tools'),
          mode: oneOf('auto', 'required'),
          tools: { type: 'array', items: named },
        }),
      ],
    },
    parallel_tool_calls: { type: 'boolean' },
    include: {
      type: 'array',
      items: oneOf('reasoning.encrypted_content', 'message.output_text.logprobs'),
    },
    reasoning: object(
      {},
      {
        effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
        summary: oneOf('auto', 'concise', 'detailed'),
      },
    ),
    text: object({}, { format, verbosity: oneOf('low', 'medium', 'high') }),
    max_output_tokens: { type: 'integer', minimum: 16 },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    top_p: { type: 'number', minimum: 0, maximum: 1 },
    top_logprobs: { type: 'integer', minimum: 0, maximum: 20 },
    metadata: { type: 'object' },
    prompt_cache_key: text,
    prompt_cache_retention: text,
    prompt_cache_options: { type: 'object' },
    safety_identifier: text,
    user: text,
  },
)

const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(
  request,
)

export const responsesRequestComplaints = (body: unknown): string[] => complaints(validate, body)
