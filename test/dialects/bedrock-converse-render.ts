/** Renders what a test asks for, and holds it against Amazon's own schema. */
import { expect } from 'vitest'
import { bedrockConverse as dialect } from '../../src/dialects/bedrock-converse.ts'
import type { ChatRequest } from '../../src/wire/chat.ts'
import { codeOf } from './code-of.ts'
import { complaints, validatorOf } from './proof.ts'

export const haiku = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const schema = validatorOf('bedrock-converse.schema.json', 'ConverseRequest')

type Messages = ChatRequest['messages']
export const hello: Messages = [{ role: 'user', content: 'hi' }]

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what it reads, field by field.
export const render = (chat: object, model = haiku, maxOutputTokens: number | null = null): any => {
  const request = { model: 'x', messages: hello, ...chat }
  const { body } = dialect.renderRequest(request, { upstreamModel: model, maxOutputTokens })
  const rendered: unknown = JSON.parse(body)
  expect(complaints(schema, rendered)).toEqual([])
  return rendered
}
export const refusal = (chat: object, model?: string): string => codeOf(() => render(chat, model))

export const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} }, ...more },
})
export const call = (id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
})
