/** Cohere's schemas are of the parts of a request; this is the whole: https://docs.cohere.com/reference/chat (2026-11). */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { specsDir } from '../recordings.ts'
import { complaints, type Json } from './proof.ts'

const part = (name: string) => ({ $ref: `spec#/components/schemas/${name}` })
const number = (minimum: number, maximum: number) => ({ type: 'number', minimum, maximum })

const request = {
  type: 'object',
  additionalProperties: false,
  required: ['model', 'messages'],
  properties: {
    model: { type: 'string' },
    messages: part('ChatMessages'),
    stream: { type: 'boolean' },
    tools: { type: 'array', items: part('ToolV2') },
    strict_tools: { type: 'boolean' },
    tool_choice: { enum: ['REQUIRED', 'NONE'] },
    documents: { type: 'array', items: { anyOf: [{ type: 'string' }, part('Document')] } },
    citation_options: part('CitationOptions'),
    // Its other form, text, is never sent; without a discriminator the two can't be told apart.
    response_format: part('JsonResponseFormatV2'),
    safety_mode: { enum: ['CONTEXTUAL', 'STRICT', 'OFF'] },
    max_tokens: { type: 'integer', minimum: 0 },
    stop_sequences: { type: 'array', maxItems: 5, items: { type: 'string' } },
    temperature: number(0, 1),
    seed: { type: 'integer', minimum: 0 },
    frequency_penalty: number(0, 1),
    presence_penalty: number(0, 1),
    k: number(0, 500),
    p: number(0.01, 0.99),
    logprobs: { type: 'boolean' },
    thinking: part('Thinking'),
  },
}

const compile = () => {
  if (!existsSync(specsDir)) return null
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  const schema = JSON.parse(readFileSync(join(specsDir, 'cohere-chat.schema.json'), 'utf8')) as Json
  return ajv.addSchema({ ...schema, $id: 'spec' }).compile(request)
}

const validate = compile()

export const cohereRequestComplaints = (body: unknown): string[] => complaints(validate, body)
