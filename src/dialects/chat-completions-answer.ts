/**
 * What every chat-completions answer, whole or streamed, has in common: finish reasons, and the fields of a message.
 * Vendors' extras are dropped unless a client can use them or must send them back.
 */

import type { AnswerChoice, AnswerMessage, FinishReason } from '../wire/chat.ts'
import { type Fields, isFields, parseUsage } from './chat-completions-usage.ts'
import type { ParsedAnswer } from './dialect.ts'
import { invalidResponse } from './failure.ts'

type WritableFields = Record<string, unknown>

/** Upstreams' own words, seen in recordings and documentation, and ours. */
const finishReasonOf: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['refusal', 'content_filter'],
])

/** A word that we don't know is an `error`, never a `stop`: the native reason beside it says what it was. */
export const parseFinishReason = (native: string): FinishReason =>
  finishReasonOf.get(native) ?? finishReasonOf.get(native.toLowerCase()) ?? 'error'

/** OpenRouter passes its own upstream's word on; others have only the one. */
export const nativeFinishReason = (choice: Fields): string =>
  typeof choice.native_finish_reason === 'string'
    ? choice.native_finish_reason
    : String(choice.finish_reason)

/** Mistral's content parts: text, and thinking that holds text parts of its own. */
const readParts = (parts: readonly unknown[], into: WritableFields): void => {
  let text = ''
  let thinking = ''
  for (const part of parts) {
    if (!isFields(part)) continue
    if (part.type === 'text' && typeof part.text === 'string') text += part.text
    else if (typeof part.thinking === 'string') thinking += part.thinking
    else if (Array.isArray(part.thinking)) {
      for (const inner of part.thinking)
        if (isFields(inner) && typeof inner.text === 'string') thinking += inner.text
    }
  }
  into.content = text
  if (thinking !== '') into.reasoning = thinking
}

/**
 * Copies what a message or a delta says, save role and tool calls. `reasoning_content` and `reasoning_details` stay
 * under their names too, since some providers want them back unchanged on the next turn.
 */
export const copyMessageFields = (source: Fields, into: WritableFields): void => {
  for (const key in source) {
    const value = source[key]
    if (value === null || value === undefined) continue
    switch (key) {
      case 'content':
        if (typeof value === 'string') into.content = value
        else if (Array.isArray(value)) readParts(value, into)
        break
      case 'reasoning':
        if (typeof value === 'string' && value !== '') into.reasoning = value
        break
      case 'reasoning_content':
        if (typeof value !== 'string' || value === '') break
        into.reasoning_content = value
        into.reasoning ??= value
        break
      case 'refusal':
        if (typeof value === 'string') into.refusal = value
        break
      case 'reasoning_details':
      case 'annotations':
      case 'images':
        if (Array.isArray(value) && value.length > 0) into[key] = value
        break
      case 'audio':
      case 'function_call':
      case 'extra_content':
        if (isFields(value)) into[key] = value
        break
    }
  }
}

/** Of the whole answer and of each chunk: what stands beside `choices` and is of use to a client. */
export const copyEnvelopeFields = (source: Fields, into: WritableFields): void => {
  if (typeof source.system_fingerprint === 'string')
    into.system_fingerprint = source.system_fingerprint
  if (Array.isArray(source.citations)) into.citations = source.citations
  if (Array.isArray(source.search_results)) into.search_results = source.search_results
}

/** Some servers write the arguments as an object instead of a text. */
export const argumentsOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : value === null || value === undefined
      ? ''
      : JSON.stringify(value)

/** Stands in where the upstream names no call. Unlike in earlier turns of a conversation, since answers' ids differ. */
export const synthesiseToolCallId = (answerId: unknown, choice: number, call: number): string => {
  const unique =
    typeof answerId === 'string' ? answerId.replace(/[^A-Za-z0-9]/g, '').slice(-24) : ''
  return `call_${unique}_${choice}_${call}`
}

type ToolCall = NonNullable<AnswerMessage['tool_calls']>[number]

const parseToolCall = (call: Fields, fallbackId: string): ToolCall => {
  const parsed: WritableFields = {
    id: typeof call.id === 'string' && call.id !== '' ? call.id : fallbackId,
    type: typeof call.type === 'string' ? call.type : 'function',
  }
  if (isFields(call.function)) {
    parsed.function = {
      name: String(call.function.name ?? ''),
      arguments: argumentsOf(call.function.arguments),
    }
  }
  if (isFields(call.custom)) parsed.custom = call.custom
  if (isFields(call.extra_content)) parsed.extra_content = call.extra_content
  // A custom tool has `custom` in place of `function`; the hub's type names only the common kind.
  return parsed as ToolCall
}

const parseChoice = (choice: Fields, position: number, answerId: unknown): AnswerChoice => {
  if (!isFields(choice.message)) throw invalidResponse('a choice has no message')
  const source = choice.message
  const index = typeof choice.index === 'number' ? choice.index : position
  const message: AnswerMessage = { role: 'assistant', content: null, refusal: null }
  copyMessageFields(source, message)
  if (Array.isArray(source.tool_calls) && source.tool_calls.length > 0) {
    message.tool_calls = source.tool_calls
      .filter(isFields)
      .map((call, i) => parseToolCall(call, synthesiseToolCallId(answerId, index, i)))
  }
  const finished = typeof choice.finish_reason === 'string'
  return {
    index,
    message,
    logprobs: choice.logprobs ?? null,
    finish_reason: finished ? parseFinishReason(String(choice.finish_reason)) : 'error',
    native_finish_reason: finished ? nativeFinishReason(choice) : null,
  }
}

/** A whole answer. Raises `provider_invalid_response`. */
export const parseAnswer = (answer: Fields, feePerRequest: boolean): ParsedAnswer => {
  if (!Array.isArray(answer.choices) || answer.choices.length === 0)
    throw invalidResponse('the answer has no choices')
  const choices = answer.choices.map((choice: unknown, position) => {
    if (!isFields(choice)) throw invalidResponse('a choice is not an object')
    return parseChoice(choice, position, answer.id)
  })
  const parsed = { choices }
  copyEnvelopeFields(answer, parsed)
  return { answer: parsed, usage: parseUsage(reportedUsage(answer), feePerRequest) }
}

/** Groq has usage under its own name too, Moonshot's streams have it inside the choice. */
export const reportedUsage = (answer: Fields): unknown => {
  if (answer.usage) return answer.usage
  if (isFields(answer.x_groq) && answer.x_groq.usage) return answer.x_groq.usage
  const first: unknown = Array.isArray(answer.choices) ? answer.choices[0] : null
  return isFields(first) ? first.usage : null
}
