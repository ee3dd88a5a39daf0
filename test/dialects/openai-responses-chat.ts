/** Recorded requests to a Responses API, told in our words: what a client of ours would have written to the same end. */
import { field, type Json } from './proof.ts'

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

const partOf = (part: Json): Json => {
  switch (part.type) {
    case 'input_image':
      return { type: 'image_url', image_url: { url: part.image_url } }
    case 'input_file': {
      const { type: _, ...file } = part
      return { type: 'file', file }
    }
    case 'refusal':
      return part
    default: {
      const { type: _, annotations: __, logprobs: ___, ...rest } = part
      return { type: 'text', ...rest }
    }
  }
}

const contentOf = (content: unknown): unknown =>
  typeof content === 'string' ? content : list(content).map(partOf)

const isAssistants = ({ type, role }: Json): boolean =>
  role === 'assistant' || type === 'reasoning' || type === 'function_call'

const detailsOf = (item: Json, index: number): Json[] => {
  const common = { id: item.id, format: 'openai-responses-v1', index }
  return [
    ...list(item.content).map(({ text }, part) => ({
      type: 'reasoning.text',
      text,
      part,
      ...common,
    })),
    ...list(item.summary).map(({ text }, part) => ({
      type: 'reasoning.summary',
      summary: text,
      part,
      ...common,
    })),
    ...(item.encrypted_content
      ? [{ type: 'reasoning.encrypted', data: item.encrypted_content, ...common }]
      : []),
  ]
}

const replayable = (item: Json): boolean =>
  item.type !== 'reasoning' || Boolean(item.encrypted_content) || list(item.content).length > 0

const assistantOf = (items: readonly Json[]): Json => {
  const message: Json = { role: 'assistant', content: null }
  const details: Json[] = []
  const calls: Json[] = []
  for (const [i, item] of items.entries()) {
    if (item.type === 'reasoning') details.push(...detailsOf(item, i))
    else if (item.type === 'function_call') {
      const { call_id: id, name, arguments: input } = item
      calls.push({ id, type: 'function', function: { name, arguments: input } })
    } else {
      message.content = contentOf(item.content)
      if (item.phase) message.phase = item.phase
    }
  }
  if (details.length > 0) message.reasoning_details = details
  if (calls.length > 0) message.tool_calls = calls
  return message
}

const messagesOf = (input: readonly Json[]): Json[] => {
  const messages: Json[] = []
  let open: Json[] = []
  const close = (): void => {
    if (open.length > 0) messages.push(assistantOf(open))
    open = []
  }
  for (const item of input.filter(replayable)) {
    const second = item.role === 'assistant' && open.some(({ role }) => role === 'assistant')
    if (!isAssistants(item) || second) close()
    if (isAssistants(item)) open.push(item)
    else if (item.type === 'function_call_output')
      messages.push({
        role: 'tool',
        tool_call_id: item.call_id,
        content: contentOf(item.output),
      })
    else messages.push({ role: item.role, content: contentOf(item.content) })
  }
  close()
  return messages
}

const formatOf = (format: unknown): Json => {
  const { type, ...schema } = (format ?? { type: 'text' }) as Json
  return type === 'json_schema' ? { type, json_schema: schema } : { type }
}

export const inputOf = (request: Json): Json[] => [
  ...(request.instructions ? [{ role: 'system', content: request.instructions }] : []),
  ...(typeof request.input === 'string'
    ? [{ role: 'user', content: request.input }]
    : list(request.input)),
]

/** The request as a client of ours would have written it. */
export const chatOf = (request: Json): Json => ({
  model: `openai/${request.model}`,
  messages: messagesOf(inputOf(request)),
  tools: list(request.tools).map(({ type, ...fn }) => ({ type, function: fn })),
  ...(typeof request.tool_choice === 'string' && { tool_choice: request.tool_choice }),
  ...(request.stream === true && { stream: true }),
  ...(request.max_output_tokens ? { max_completion_tokens: request.max_output_tokens } : {}),
  ...(request.reasoning ? { reasoning: request.reasoning } : {}),
  ...(field(request, 'text', 'format')
    ? { response_format: formatOf(field(request, 'text', 'format')) }
    : {}),
  ...(typeof request.temperature === 'number' ? { temperature: request.temperature } : {}),
})

/** What an item says, without what the provider alone wrote into it or what may be left out. */
const essence = ({
  id,
  status: _,
  item_id: __,
  output_index: ___,
  type = 'message',
  ...item
}: Json): Json => {
  if (type === 'reasoning') {
    const content = list(item.content)
    const { summary, encrypted_content } = item
    return {
      type,
      ...(id ? { id } : {}),
      summary,
      ...(content.length > 0 ? { content } : {}),
      ...(encrypted_content ? { encrypted_content } : {}),
    }
  }
  for (const name of ['content', 'output'] as const)
    if (Array.isArray(item[name]))
      item[name] = list(item[name]).map(({ annotations: _, logprobs: __, ...part }) => part)
  return { type, ...item }
}

export const essences = (items: readonly Json[]): Json[] => items.filter(replayable).map(essence)

/** Tools that the provider runs, conversations and images that it keeps: not sold here. */
export const beyondUs =
  /"previous_response_id":"|"conversation":"|"type":"(web_search|mcp|code_interpreter|tool_search|file_search|additional_tools|image_generation|item_reference)|"defer_loading"|"type":"input_image","[^{}]*"file_id"|"file_id":"[^{}]*"type":"input_image"/
