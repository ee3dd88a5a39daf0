/** The hub's messages as Cohere's. Source: https://docs.cohere.com/reference/chat (2026-11). */
import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'
import { decodeText, parseDataUri } from '../wire/data-uri.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

type Message = ChatRequest['messages'][number]
type Part = { type: string; [field: string]: unknown }

/** Names whose reasoning it is, so that another provider's is not taken for it. */
export const reasoningFormat = 'cohere-v2'
/** Marks the plan that leads to calls of tools, which has a field of its own. */
export const planId = 'tool_plan'

export type Conversation = {
  messages: Fields[]
  /** Files of the client's, which stand beside the conversation here. */
  documents: Fields[]
}

const imagePart = (part: Part, param: string): Fields => {
  const { url, detail } = fieldsOf(part.image_url)
  const address = textOf(part.image_url) || textOf(url)
  if (!/^(https?:|data:image\/)/i.test(address))
    throw unsupported(param, 'The provider takes images as an http(s) URL or as a data URI.')
  const image = detail === 'low' || detail === 'high' ? { url: address, detail } : { url: address }
  return { type: 'image_url', image_url: image }
}

const documentOf = (part: Part, param: string): Fields => {
  const { file_data, filename } = fieldsOf(part.file)
  const uri = parseDataUri(textOf(file_data))
  if (uri === null || !/^text\/|^application\/(json|xml|yaml)$/.test(uri.mediaType))
    throw unsupported(param, 'The provider takes files as plain text in a data URI only.')
  try {
    const text = decodeText(uri)
    return { data: textOf(filename) === '' ? { text } : { title: filename, text } }
  } catch {
    throw unsupported(param, 'The data of this file is not encoded as its data URI says.')
  }
}

/** `null` where the part goes elsewhere. */
const renderPart = (
  part: Part,
  param: string,
  role: Message['role'],
  documents: Fields[],
): Fields | null => {
  if (part.type === 'text') return { type: 'text', text: textOf(part.text) }
  if (part.type === 'refusal') return { type: 'text', text: textOf(part.refusal) }
  if (role === 'user' && part.type === 'image_url') return imagePart(part, param)
  if (role === 'user' && part.type === 'file') {
    documents.push(documentOf(part, param))
    return null
  }
  throw unsupported(param, `The provider does not take content of type ${part.type} here.`)
}

const renderContent = (
  { role, content }: Message,
  at: number,
  documents: Fields[],
): string | Fields[] => {
  if (!Array.isArray(content)) return content ?? ''
  const parts: Fields[] = []
  for (const [i, part] of content.entries()) {
    const rendered = renderPart(part, `messages[${at}].content[${i}]`, role, documents)
    if (rendered !== null) parts.push(rendered)
  }
  return parts
}

/** Pieces of one reasoning, as they were streamed, are one text again. */
const reasoningText = (details: unknown, isPlan: boolean): string => {
  let text = ''
  let open: Fields = {}
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isFields(detail) || detail.type !== 'reasoning.text') continue
    if (detail.format !== undefined || detail.index !== open.index) open = detail
    if (textOf(open.format).startsWith(reasoningFormat) && (open.id === planId) === isPlan)
      text += textOf(detail.text)
  }
  return text
}

const toolCalls = ({ tool_calls }: Message, at: number): Fields[] =>
  (tool_calls ?? []).map((call, i) => {
    if (call.function === undefined)
      throw unsupported(
        `messages[${at}].tool_calls[${i}]`,
        'The provider takes only calls of functions.',
      )
    const { name, arguments: written } = call.function
    return { id: call.id, type: 'function', function: { name, arguments: written || '{}' } }
  })

const renderAssistant = (message: Message, at: number): Fields => {
  if (isFields(message.function_call))
    throw unsupported(`messages[${at}].function_call`, 'Use `tool_calls`; functions are outdated.')
  const rendered: Record<string, unknown> = { role: 'assistant' }
  const calls = toolCalls(message, at)
  const thinking = reasoningText(message.reasoning_details, false)
  const plan = reasoningText(message.reasoning_details, true)
  const content = renderContent(message, at, [])
  const said = content.length > 0 ? content : textOf(message.refusal)
  if (thinking !== '') {
    const parts = typeof said === 'string' && said !== '' ? [{ type: 'text', text: said }] : said
    rendered.content = [{ type: 'thinking', thinking }, ...parts]
  } else if (said.length > 0 || calls.length === 0) rendered.content = said
  if (calls.length > 0) rendered.tool_calls = calls
  if (calls.length > 0 && plan !== '') rendered.tool_plan = plan
  return rendered
}

const renderMessage = (message: Message, at: number, documents: Fields[]): Fields => {
  switch (message.role) {
    case 'assistant':
      return renderAssistant(message, at)
    case 'function':
      throw unsupported(`messages[${at}].role`, 'Use the role `tool`; functions are outdated.')
    case 'tool': {
      const { tool_call_id } = message
      const param = `messages[${at}].tool_call_id`
      if (textOf(tool_call_id) === '')
        throw new GatewayError('invalid_request', `${param} is missing.`, { param })
      return { role: 'tool', tool_call_id, content: renderContent(message, at, documents) }
    }
    default: {
      const role = message.role === 'developer' ? 'system' : message.role
      return { role, content: renderContent(message, at, documents) }
    }
  }
}

/** Raises `unsupported_parameter` and `invalid_request`, with the path of what is wrong. */
export const renderConversation = (messages: readonly Message[]): Conversation => {
  const documents: Fields[] = []
  return { messages: messages.map((one, i) => renderMessage(one, i, documents)), documents }
}
