/** Converse's requests read back as chat completions, to be rendered again; and its events as frames. */
import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { ChatRequest } from '../../src/wire/chat.ts'
import { field, type Json } from './proof.ts'

type Block = Record<string, Json>
export type Converse = Json & { messages: { role: 'user' | 'assistant'; content: Block[] }[] }
type Message = ChatRequest['messages'][number]
type Part = { type: string; [name: string]: unknown }

const mark = { cache_control: { type: 'ephemeral' } }
const mediaTypes: Record<string, string> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
}

const bytesOf = (media: Json | undefined): string => String(field(media?.source, 'bytes'))

const partOf = (block: Block): Part | null => {
  if (typeof block.text === 'string') return { type: 'text', text: block.text }
  if (block.image)
    return {
      type: 'image_url',
      image_url: { url: `data:image/${String(block.image.format)};base64,${bytesOf(block.image)}` },
    }
  if (block.document) {
    const { format, name, citations } = block.document
    const type = mediaTypes[String(format)] ?? 'application/octet-stream'
    const file_data = `data:${type};base64,${bytesOf(block.document)}`
    const file = { file_data, filename: `${String(name)}.${String(format)}` }
    return { type: 'file', file, ...(citations ? { citations } : {}) }
  }
  return null
}

/** A cache point marks the part before it. */
const partsOf = (blocks: readonly Block[]): Part[] => {
  const parts: Part[] = []
  for (const block of blocks) {
    const part = partOf(block)
    const last = parts.at(-1)
    if (part) parts.push(part)
    else if (block.cachePoint && last) Object.assign(last, mark)
  }
  return parts
}

const toolMessage = (result: Json): Message => ({
  role: 'tool',
  tool_call_id: String(result.toolUseId),
  content: partsOf(result.content as Block[]),
})

const detailOf = (block: Block, index: number): Json => {
  const { reasoningText, redactedContent } = block.reasoningContent ?? {}
  const format = 'anthropic-claude-v1'
  if (redactedContent) {
    const data = Buffer.from(String(redactedContent), 'base64').toString()
    return { type: 'reasoning.encrypted', data, format, index }
  }
  const { text, signature } = reasoningText as Json
  return { type: 'reasoning.text', text, signature, format, index }
}

const callOf = ({ toolUse }: Block): NonNullable<Message['tool_calls']>[number] => ({
  id: String(toolUse?.toolUseId),
  type: 'function',
  function: { name: String(toolUse?.name), arguments: JSON.stringify(toolUse?.input) },
})

const assistantMessage = (blocks: readonly Block[]): Message => {
  const calls = blocks.filter(block => block.toolUse).map(callOf)
  const details = blocks.filter(block => block.reasoningContent).map(detailOf)
  return {
    role: 'assistant',
    content: partsOf(blocks),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
  }
}

const messagesOf = ({ role, content }: Converse['messages'][number]): Message[] => {
  if (role === 'assistant') return [assistantMessage(content)]
  const results = content.flatMap(({ toolResult }) => (toolResult ? [toolMessage(toolResult)] : []))
  const parts = partsOf(content)
  return parts.length > 0 ? [...results, { role: 'user', content: parts }] : results
}

const toolsOf = (tools: readonly Block[]): Json[] => {
  const found: Json[] = []
  for (const { toolSpec, cachePoint } of tools) {
    if (cachePoint) Object.assign(found.at(-1) ?? {}, mark)
    if (!toolSpec) continue
    const { name, description, inputSchema, strict } = toolSpec
    const fn = { name, description, strict, parameters: field(inputSchema, 'json') }
    found.push({ type: 'function', function: fn })
  }
  return found
}

const choiceOf = (choice: unknown): unknown => {
  if (field(choice, 'any')) return 'required'
  const name = field(choice, 'tool', 'name')
  return name ? { type: 'function', function: { name } } : 'auto'
}

const reasoningOf = (fields: unknown): Json => {
  const asked = field(fields, 'thinking') ?? field(fields, 'reasoning_config')
  const effort =
    field(fields, 'reasoning_effort') ??
    field(fields, 'output_config', 'effort') ??
    field(fields, 'reasoningConfig', 'maxReasoningEffort')
  const budget = field(asked, 'budget_tokens')
  if (budget) return { reasoning: { max_tokens: budget } }
  return effort ? { reasoning_effort: effort } : {}
}

const formatOf = (request: Converse): Json => {
  const asked = field(request, 'outputConfig', 'textFormat', 'structure', 'jsonSchema')
  if (!asked) return {}
  const { schema, name, description } = asked as Json
  const json_schema = { name, description, schema: JSON.parse(String(schema)) as Json }
  return { response_format: { type: 'json_schema', json_schema } }
}

export const chatOf = (request: Converse): ChatRequest => {
  const system = partsOf((request.system as Block[] | undefined) ?? [])
  const config = request.inferenceConfig as Json | undefined
  const tools = toolsOf((field(request, 'toolConfig', 'tools') as Block[] | undefined) ?? [])
  const chat: Json = {
    model: 'bedrock/m',
    messages: [
      ...(system.length > 0 ? [{ role: 'system', content: system }] : []),
      ...request.messages.flatMap(messagesOf),
    ],
    max_tokens: config?.maxTokens,
    temperature: config?.temperature,
    top_p: config?.topP,
    stop: config?.stopSequences,
    ...(tools.length > 0
      ? { tools, tool_choice: choiceOf(field(request, 'toolConfig', 'toolChoice')) }
      : {}),
    ...reasoningOf(request.additionalModelRequestFields),
    ...formatOf(request),
  }
  return chat as ChatRequest
}

const codec = new EventStreamCodec(
  bytes => Buffer.from(bytes as Uint8Array).toString(),
  text => Buffer.from(text),
)

/** An event as Amazon sends it: `{contentBlockDelta: {…}}` or the like. */
export const frameOf = (event: Record<string, unknown>, kind = 'event'): Buffer => {
  const [[name, payload] = ['', {}]] = Object.entries(event)
  const text = (value: string) => ({ type: 'string', value }) as const
  return Buffer.from(
    codec.encode({
      headers: {
        [kind === 'event' ? ':event-type' : ':exception-type']: text(name),
        ':content-type': text('application/json'),
        ':message-type': text(kind),
      },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  )
}
