/** Tools, the choice among them, and the tool by which a model that can't be held to JSON otherwise is made to write it. */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { jsonToolName, readAnswerFormat } from './answer-format.ts'
import { type Block, withCacheControl } from './anthropic-messages-content.ts'
import type { ClaudeTraits } from './claude-models.ts'
import { strictSchema } from './claude-schema.ts'
import { unsupported } from './failure.ts'
import { inputSchema, readToolChoice, type ToolChoice } from './function-tools.ts'

export type ToolFields = {
  tools?: Fields[]
  tool_choice?: Fields
  /** Output format by schema, where the model takes one. */
  format?: Fields
}

const renderTool = (tool: Fields, at: number, traits: ClaudeTraits): Fields => {
  if (tool.type !== 'function')
    throw unsupported(`tools[${at}].type`, 'The provider takes only tools of type function.')
  const { name, description, parameters, strict, cache_control } = fieldsOf(tool.function)
  const isStrict = strict === true && traits.takesSchema
  const schema = inputSchema(parameters)
  // `as`: a schema that is an object stays one.
  const input_schema = isStrict ? (strictSchema(schema) as Fields) : schema
  const rendered: Record<string, unknown> = { name, input_schema }
  if (textOf(description) !== '') rendered.description = description
  if (isStrict) rendered.strict = true
  // `as`: a block has a type, a tool of one's own needs none.
  return withCacheControl(rendered as Block, { cache_control: tool.cache_control ?? cache_control })
}

const renderChoice = (
  { mode, name }: ToolChoice,
  parallel: unknown,
  traits: ClaudeTraits,
): Fields => {
  if ((mode === 'any' || mode === 'tool') && !traits.takesForcedTool)
    throw unsupported(
      'tool_choice',
      'This model can not be made to call a tool; it takes auto or none.',
    )
  const choice: Record<string, unknown> = { type: mode }
  if (name !== undefined) choice.name = name
  if (parallel === false && mode !== 'none') choice.disable_parallel_tool_use = true
  return choice
}

/** The model answers by a call of this tool, or of the client's own tools where it has any. */
const addJsonTool = (into: ToolFields, schema: Fields | null, traits: ClaudeTraits): void => {
  if (into.tool_choice?.type === 'any' || into.tool_choice?.type === 'tool') return
  if (!traits.takesForcedTool)
    throw unsupported('response_format', 'This model takes JSON only by schema: use json_schema.')
  if (schema !== null && schema.type !== 'object')
    throw unsupported('response_format.json_schema', 'This model needs a schema of type object.')
  const others = into.tool_choice?.type === 'none' ? [] : (into.tools ?? [])
  const tool = {
    name: jsonToolName,
    description: 'Write the answer as JSON. Use this to answer; nothing else is read.',
    input_schema: schema ?? { type: 'object' },
  }
  into.tools = [...(into.tools ?? []), tool]
  into.tool_choice =
    others.length > 0
      ? { type: 'any', disable_parallel_tool_use: true }
      : { type: 'tool', name: jsonToolName }
}

/** Raises `unsupported_parameter`. */
export const renderTools = (chat: ChatRequest, traits: ClaudeTraits): ToolFields => {
  const rendered: ToolFields = {}
  const choice = readToolChoice(chat.tool_choice)
  const tools = (chat.tools ?? [])
    .map((tool, i) => renderTool(tool, i, traits))
    .filter(({ name }) => choice.only?.has(textOf(name)) !== false)
  if (tools.length > 0) {
    rendered.tools = tools
    // Left out, it is auto.
    if (choice.mode !== 'auto' || chat.tool_choice === 'auto' || chat.parallel_tool_calls === false)
      rendered.tool_choice = renderChoice(choice, chat.parallel_tool_calls, traits)
  }
  const format = readAnswerFormat(chat.response_format)
  if (format === null) return rendered
  if (format !== 'json' && traits.takesSchema)
    rendered.format = { type: 'json_schema', schema: strictSchema(format) }
  else addJsonTool(rendered, format === 'json' ? null : format, traits)
  return rendered
}
