/** What a request says of tools, read once for the formats that spell it in their own way. */
import { GatewayError } from '../errors.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

export type ToolChoice = {
  mode: 'auto' | 'any' | 'none' | 'tool'
  name?: string
  /** Of the tools, these alone. */
  only?: ReadonlySet<string>
}

const nameOf = (choice: unknown): string => textOf(fieldsOf(fieldsOf(choice).function).name)

/** Raises `unsupported_parameter`. */
export const readToolChoice = (choice: unknown): ToolChoice => {
  if (choice === null || choice === undefined || choice === 'auto') return { mode: 'auto' }
  if (choice === 'none') return { mode: 'none' }
  if (choice === 'required' || choice === 'any') return { mode: 'any' }
  const { type, allowed_tools: allowed } = fieldsOf(choice)
  if (type === 'function' && nameOf(choice) !== '') return { mode: 'tool', name: nameOf(choice) }
  const { mode, tools } = fieldsOf(allowed)
  if (type === 'allowed_tools' && Array.isArray(tools))
    return { mode: mode === 'required' ? 'any' : 'auto', only: new Set(tools.map(nameOf)) }
  throw unsupported(
    'tool_choice',
    'The provider takes auto, none, required, or a function by name.',
  )
}

/** Parameters with an object at the root, and a schema where the tool takes nothing. */
export const inputSchema = (parameters: unknown): Fields => {
  if (!isFields(parameters)) return { type: 'object', properties: {} }
  return parameters.type === undefined ? { type: 'object', ...parameters } : parameters
}

/** The arguments of an earlier call, where a format wants them as an object. Raises `invalid_request`. */
export const toolInput = (text: string, param: string): Fields => {
  if (text.trim() === '') return {}
  try {
    const input: unknown = JSON.parse(text)
    if (isFields(input)) return input
    if (input === null) return {}
  } catch {
    // Refused below, like what is JSON and no object.
  }
  throw new GatewayError(
    'invalid_request',
    `${param} must be a JSON object, written as a string.`,
    {
      param,
    },
  )
}
