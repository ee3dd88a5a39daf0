/** Tools of a request in OpenAI's Responses format: the same as in chat-completions, but flat. */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'
import { inputSchema } from './function-tools.ts'

type Tool = Record<string, unknown>

const functionTool = ({ name, description, parameters, strict }: Fields): Tool => ({
  type: 'function',
  name,
  ...(textOf(description) === '' ? {} : { description }),
  parameters: inputSchema(parameters),
  // Left out, it is true here and false on chat-completions, which is what the client wrote.
  strict: strict ?? false,
})

const customTool = ({ name, description, format }: Fields): Tool => ({
  type: 'custom',
  name,
  ...(textOf(description) === '' ? {} : { description }),
  ...(format === undefined || format === null ? {} : { format: grammar(fieldsOf(format)) }),
})

const grammar = (format: Fields): Fields =>
  format.type === 'grammar' ? { type: 'grammar', ...fieldsOf(format.grammar) } : format

const nameOf = (choice: Fields): Fields => {
  const { type } = choice
  return { type, name: fieldsOf(choice[String(type)]).name }
}

export const renderTools = ({ tools }: ChatRequest): Tool[] =>
  (tools ?? []).map((tool, i) => {
    if (tool.type === 'function') return functionTool(fieldsOf(tool.function))
    if (tool.type === 'custom') return customTool(fieldsOf(tool.custom))
    throw unsupported(`tools[${i}].type`, 'Only tools of type function and custom are taken.')
  })

/** `undefined` where the client left it open. Raises `unsupported_parameter`. */
export const renderToolChoice = (choice: unknown): unknown => {
  if (choice === null || choice === undefined) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (choice === 'any') return 'required'
  const wanted = fieldsOf(choice)
  if (wanted.type === 'function' || wanted.type === 'custom') return nameOf(wanted)
  const { mode, tools } = fieldsOf(wanted.allowed_tools)
  if (wanted.type === 'allowed_tools' && Array.isArray(tools))
    return { type: 'allowed_tools', mode, tools: tools.map(tool => nameOf(fieldsOf(tool))) }
  throw unsupported('tool_choice', 'Ask for auto, none, required, or a tool by name.')
}
