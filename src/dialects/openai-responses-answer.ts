/** What answers in OpenAI's Responses format, whole or streamed, have in common, and how a whole one is read. */
import type { AnswerMessage, FinishReason } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import type { ParsedAnswer } from './dialect.ts'
import { inBandFailure, invalidResponse } from './failure.ts'
import { partBreak, readReasoning } from './openai-responses-reasoning.ts'
import { parseUsage } from './openai-responses-usage.ts'

type ToolCall = NonNullable<AnswerMessage['tool_calls']>[number]

/** What a client can have of an item: the others belong to tools that the provider ran by itself. */
export type ItemKind = 'message' | 'reasoning' | 'call' | 'custom' | 'other'

const kinds: ReadonlyMap<unknown, ItemKind> = new Map([
  ['message', 'message'],
  ['reasoning', 'reasoning'],
  ['function_call', 'call'],
  ['custom_tool_call', 'custom'],
])

export const kindOf = ({ type }: Fields): ItemKind => kinds.get(type) ?? 'other'

/** Why the answer ended, in the provider's words: the reason for stopping short, or the state. */
export const nativeReasonOf = ({ status, incomplete_details: details }: Fields): string =>
  textOf(fieldsOf(details).reason) || textOf(status)

const shortReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['incomplete', 'length'],
  ['content_filter', 'content_filter'],
])

/** A word that we don't know is an `error`, never a `stop`. */
export const finishReasonOf = (response: Fields, calls: number): FinishReason => {
  if (response.status === 'completed') return calls > 0 ? 'tool_calls' : 'stop'
  return shortReasons.get(nativeReasonOf(response)) ?? 'error'
}

export type ReadMessage = {
  text: string
  refusal: string
  annotations: Fields[]
  logprobs: unknown[]
}

/** Sources with an address, as chat-completions has them; places in files have no such form. */
const cite = (annotations: unknown, start: number, into: Fields[]): void => {
  if (!Array.isArray(annotations)) return
  for (const annotation of annotations) {
    if (!isFields(annotation) || annotation.type !== 'url_citation') continue
    const { url, title, start_index: from, end_index: to } = annotation
    const place = { start_index: start + Number(from ?? 0), end_index: start + Number(to ?? 0) }
    const cited = { url: textOf(url), title: textOf(title), ...place }
    into.push({ type: 'url_citation', url_citation: cited })
  }
}

/** `start`: where the message begins in the content. */
export const readMessage = (item: Fields, start: number): ReadMessage => {
  const read: ReadMessage = { text: '', refusal: '', annotations: [], logprobs: [] }
  for (const part of Array.isArray(item.content) ? item.content : []) {
    if (!isFields(part)) continue
    read.refusal += textOf(part.refusal)
    if (part.type !== 'output_text') continue
    cite(part.annotations, start + read.text.length, read.annotations)
    read.text += textOf(part.text)
    if (Array.isArray(part.logprobs)) read.logprobs.push(...part.logprobs)
  }
  return read
}

/** Clients parse the arguments, so a function without any has an empty object. */
export const argumentsOf = (text: unknown): string => textOf(text) || '{}'

/** Stands in where the upstream names no call. */
export const callIdOf = (item: Fields, call: number): string =>
  textOf(item.call_id) || textOf(item.id) || `call_${call}`

const toolCall = (item: Fields, call: number): ToolCall => {
  const id = callIdOf(item, call)
  const name = textOf(item.name)
  if (kindOf(item) === 'custom') {
    const call: unknown = { id, type: 'custom', custom: { name, input: textOf(item.input) } }
    // `as`: `custom` in place of `function` is a kind too; the hub's type names only the common one.
    return call as ToolCall
  }
  return { id, type: 'function', function: { name, arguments: argumentsOf(item.arguments) } }
}

type Reading = ReadMessage & {
  reasoning: string[]
  details: Fields[]
  calls: ToolCall[]
  phase: unknown
  items: number
}

const readItem = (item: Fields, into: Reading): void => {
  switch (kindOf(item)) {
    case 'message': {
      const read = readMessage(item, into.text.length)
      into.text += read.text
      into.refusal += read.refusal
      into.annotations.push(...read.annotations)
      into.logprobs.push(...read.logprobs)
      into.phase = item.phase ?? into.phase
      break
    }
    case 'reasoning': {
      const { text, details } = readReasoning(item, into.items)
      if (text !== '') into.reasoning.push(text)
      into.details.push(...details)
      break
    }
    case 'other':
      return
    default:
      into.calls.push(toolCall(item, into.calls.length))
  }
  into.items++
}

const readItems = (output: readonly unknown[]): Reading => {
  const reading: Reading = {
    text: '',
    refusal: '',
    annotations: [],
    logprobs: [],
    reasoning: [],
    details: [],
    calls: [],
    phase: null,
    items: 0,
  }
  for (const item of output) if (isFields(item)) readItem(item, reading)
  return reading
}

const messageOf = (reading: Reading): AnswerMessage => {
  const message: AnswerMessage = {
    role: 'assistant',
    content: reading.text === '' && reading.calls.length > 0 ? null : reading.text,
    refusal: reading.refusal || null,
  }
  if (reading.reasoning.length > 0) message.reasoning = reading.reasoning.join(partBreak)
  if (reading.details.length > 0) message.reasoning_details = reading.details
  if (reading.calls.length > 0) message.tool_calls = reading.calls
  if (reading.annotations.length > 0) message.annotations = reading.annotations
  if (reading.phase !== null) message.phase = reading.phase
  return message
}

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw invalidResponse('the answer is not JSON')
  }
}

/** Raises `provider_invalid_response`, and what an error in place of the answer says. */
export const parseResponse = (body: string): ParsedAnswer => {
  const response = parseJson(body)
  if (!isFields(response)) throw invalidResponse('the answer is not an object')
  if (response.error || response.status === 'failed') throw inBandFailure(response)
  if (!Array.isArray(response.output)) throw invalidResponse('the answer has no output')
  const reading = readItems(response.output)
  const { logprobs, calls } = reading
  const choice = {
    index: 0,
    message: messageOf(reading),
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishReasonOf(response, calls.length),
    native_finish_reason: nativeReasonOf(response) || null,
  }
  return { answer: { choices: [choice] }, usage: parseUsage(response.usage) }
}
