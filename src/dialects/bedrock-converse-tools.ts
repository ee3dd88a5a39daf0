/** Tools and the choice among them, and the form of the answer, which some models only keep to by way of a tool. */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { jsonToolName, readAnswerFormat } from './answer-format.ts'
import { type Block, markCache } from './bedrock-converse-content.ts'
import type { ModelTraits } from './bedrock-converse-models.ts'
import type { Turn } from './bedrock-converse-turns.ts'
import { strictSchema } from './claude-schema.ts'
import { unsupported } from './failure.ts'
import { inputSchema, readToolChoice, type ToolChoice } from './function-tools.ts'

export type ToolFields = {
  toolConfig?: { tools: Block[]; toolChoice?: Fields }
  /** `outputConfig.textFormat`. */
  textFormat?: Fields
  /** Of the model's own fields: what Converse has no word for. */
  fields: Fields
  /** A tool must be called, whatever it is. */
  isForced: boolean
}

const renderTool = (tool: Fields, at: number, { claude }: ModelTraits): Block => {
  if (tool.type !== 'function')
    throw unsupported(`tools[${at}].type`, 'The provider takes only tools of type function.')
  const { name, description, parameters, strict } = fieldsOf(tool.function)
  const isStrict = strict === true && claude?.takesSchema === true
  const schema = inputSchema(parameters)
  const json = isStrict ? strictSchema(schema) : schema
  const spec: Record<string, unknown> = { name, inputSchema: { json } }
  if (textOf(description).trim() !== '') spec.description = description
  if (isStrict) spec.strict = true
  return { toolSpec: spec }
}

const renderTools = (chat: ChatRequest, only: ToolChoice['only'], traits: ModelTraits): Block[] => {
  const rendering = { documentNames: new Set<string>(), marksCache: true }
  const tools: Block[] = []
  for (const [i, tool] of (chat.tools ?? []).entries()) {
    const { name, cache_control } = fieldsOf(tool.function)
    const rendered = renderTool(tool, i, traits)
    if (only?.has(textOf(name)) === false) continue
    tools.push(rendered)
    if (traits.cachePoints === 'everywhere')
      markCache({ cache_control: tool.cache_control ?? cache_control }, tools, rendering)
  }
  return tools
}

/** Without tools the API refuses a conversation in which some were called. This one tells that there is none. */
const noTool: Block = {
  toolSpec: {
    name: 'no_tool_available',
    description: 'Do not call this. No tool is available now; answer in words.',
    inputSchema: { json: { type: 'object', properties: {} } },
  },
}

const hasCalls = (turns: readonly Turn[]): boolean =>
  turns.some(({ content }) => content.some(block => block.toolUse || block.toolResult))

const choiceOf = ({ mode, name }: ToolChoice): Fields | null => {
  if (mode === 'any') return { any: {} }
  return mode === 'tool' ? { tool: { name } } : null
}

/** Claude alone can be kept to one call at a time, in its own words; the same choice twice would be refused. */
const oneAtATime = ({ mode, name }: ToolChoice, traits: ModelTraits): Fields => {
  if (traits.claude === null)
    throw unsupported('parallel_tool_calls', 'This model can not be kept to one call at a time.')
  const choice = { type: mode, disable_parallel_tool_use: true }
  return { tool_choice: name === undefined ? choice : { ...choice, name } }
}

const writeTools = (chat: ChatRequest, traits: ModelTraits, turns: readonly Turn[]): ToolFields => {
  const choice = readToolChoice(chat.tool_choice)
  const tools = choice.mode === 'none' ? [] : renderTools(chat, choice.only, traits)
  if (tools.length === 0) {
    const none: ToolFields = { fields: {}, isForced: false }
    return hasCalls(turns) ? { ...none, toolConfig: { tools: [noTool] } } : none
  }
  const toolChoice = choiceOf(choice)
  if (toolChoice !== null && traits.claude?.takesForcedTool === false)
    throw unsupported(
      'tool_choice',
      'This model can not be made to call a tool; it takes auto or none.',
    )
  const isForced = toolChoice !== null
  if (chat.parallel_tool_calls === false)
    return { toolConfig: { tools }, fields: oneAtATime(choice, traits), isForced }
  const toolConfig = toolChoice === null ? { tools } : { tools, toolChoice }
  return { toolConfig, fields: {}, isForced }
}

/** The model answers by a call of this tool, or of the client's own tools where it has any. */
const addJsonTool = (written: ToolFields, schema: Fields | null, traits: ModelTraits): void => {
  if (written.isForced) return
  if (traits.claude?.takesForcedTool === false)
    throw unsupported('response_format', 'This model takes JSON only by schema: use json_schema.')
  if (schema !== null && schema.type !== 'object')
    throw unsupported('response_format.json_schema', 'This model needs a schema of type object.')
  const toolSpec = {
    name: jsonToolName,
    description: 'Write the answer as JSON. Use this to answer; nothing else is read.',
    inputSchema: { json: schema ?? { type: 'object' } },
  }
  const others = (written.toolConfig?.tools ?? []).filter(tool => tool !== noTool)
  written.toolConfig = {
    tools: [...others, { toolSpec }],
    toolChoice: others.length > 0 ? { any: {} } : { tool: { name: jsonToolName } },
  }
  written.fields = {}
  written.isForced = true
}

const anyObject = { type: 'object', additionalProperties: true }

const textFormat = (schema: unknown, asked: Fields): Fields => {
  const jsonSchema: Record<string, unknown> = { schema: JSON.stringify(schema) }
  for (const key of ['name', 'description'])
    if (textOf(asked[key]) !== '') jsonSchema[key] = asked[key]
  return { type: 'json_schema', structure: { jsonSchema } }
}

/** Raises `unsupported_parameter`. */
export const renderToolFields = (
  chat: ChatRequest,
  traits: ModelTraits,
  turns: readonly Turn[],
): ToolFields => {
  const written = writeTools(chat, traits, turns)
  const format = readAnswerFormat(chat.response_format)
  if (format === null) return written
  // Claude's decoder wants each property named, so "any object" is not to be had from it that way.
  const isClaude = traits.claude !== null && traits.claude.maxOutputTokens !== null
  if (!traits.takesSchema || (format === 'json' && isClaude))
    addJsonTool(written, format === 'json' ? null : format, traits)
  else {
    const asked = fieldsOf(chat.response_format?.json_schema)
    const schema = format === 'json' ? anyObject : asked.schema
    written.textFormat = textFormat(isClaude ? strictSchema(schema) : schema, asked)
  }
  return written
}
