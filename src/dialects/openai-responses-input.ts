/** A conversation as the items of OpenAI's Responses format. */
import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'
import { fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'
import { inputContent, outputContent, type Part } from './openai-responses-content.ts'
import { reasoningItems } from './openai-responses-reasoning.ts'

type Message = ChatRequest['messages'][number]
type ToolCall = NonNullable<Message['tool_calls']>[number]

export type Item = { type: string; [field: string]: unknown }

const missing = (param: string): GatewayError =>
  new GatewayError('invalid_request', `${param} is missing.`, { param })

const isCustom = (call: ToolCall): boolean => call.type === 'custom'

const callItem = (call: ToolCall, param: string): Item => {
  const call_id = textOf(call.id)
  if (call_id === '') throw missing(`${param}.id`)
  if (isCustom(call)) {
    const { name, input } = fieldsOf(call.custom)
    return { type: 'custom_tool_call', call_id, name, input }
  }
  if (call.function === undefined) throw missing(`${param}.function`)
  const { name, arguments: input } = call.function
  return { type: 'function_call', call_id, name, arguments: input }
}

const contentOf = (message: Message, at: number): string | Part[] => {
  const content = outputContent(message.content, at)
  const { refusal } = message
  return content.length === 0 && typeof refusal === 'string'
    ? [{ type: 'refusal', refusal }]
    : content
}

/** Which of its messages a model meant for the user; it wants to be reminded. */
const phaseOf = ({ phase }: Message): object =>
  phase === 'commentary' || phase === 'final_answer' ? { phase } : {}

const renderAssistant = (message: Message, at: number, into: Item[]): void => {
  if (isFields(message.function_call))
    throw unsupported(`messages[${at}].function_call`, 'Use `tool_calls`; functions are outdated.')
  if (isFields(message.audio))
    throw unsupported(`messages[${at}].audio`, 'The provider takes no audio with this request.')
  const said: Item[] = []
  const content = contentOf(message, at)
  if (content.length > 0)
    said.push({ type: 'message', role: 'assistant', content, ...phaseOf(message) })
  for (const [i, call] of (message.tool_calls ?? []).entries())
    said.push(callItem(call, `messages[${at}].tool_calls[${i}]`))
  const start = into.length
  for (const { item, place } of reasoningItems(message.reasoning_details)) {
    while (place !== null && into.length - start < place) {
      const next = said.shift()
      if (next === undefined) break
      into.push(next)
    }
    into.push(item)
  }
  into.push(...said)
}

const resultItem = (message: Message, at: number, customCalls: ReadonlySet<string>): Item => {
  const call_id = textOf(message.tool_call_id)
  if (call_id === '') throw missing(`messages[${at}].tool_call_id`)
  const type = customCalls.has(call_id) ? 'custom_tool_call_output' : 'function_call_output'
  return { type, call_id, output: inputContent(message.content, at) }
}

/** Raises `unsupported_parameter` and `invalid_request`, with the path of what is wrong. */
export const renderInput = (messages: readonly Message[]): Item[] => {
  const items: Item[] = []
  const customCalls = new Set<string>()
  for (const [i, message] of messages.entries()) {
    switch (message.role) {
      case 'assistant':
        for (const call of message.tool_calls ?? [])
          if (isCustom(call)) customCalls.add(textOf(call.id))
        renderAssistant(message, i, items)
        break
      case 'tool':
        items.push(resultItem(message, i, customCalls))
        break
      case 'function':
        throw unsupported(`messages[${i}].role`, 'Use the role `tool`; functions are outdated.')
      default:
        items.push({
          type: 'message',
          role: message.role,
          content: inputContent(message.content, i),
        })
    }
  }
  return items
}
