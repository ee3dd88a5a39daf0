/** The form that a request wants the answer in. */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

/**
 * The tool by which a model that can't be held to JSON otherwise is made to write it. Ours alone: its input is the
 * answer's text.
 */
export const jsonToolName = 'tollgate_json_answer'

/** What `response_format` wants: a schema, any JSON, or `null` for text. Raises `unsupported_parameter`. */
export const readAnswerFormat = (
  format: ChatRequest['response_format'],
): Fields | 'json' | null => {
  if (!format || format.type === 'text') return null
  if (format.type === 'json_object') return 'json'
  const { schema, description } = fieldsOf(format.json_schema)
  if (format.type !== 'json_schema')
    throw unsupported('response_format.type', 'Ask for text, json_object or json_schema.')
  if (!isFields(schema)) return 'json'
  return textOf(description) !== '' ? { description, ...schema } : schema
}
