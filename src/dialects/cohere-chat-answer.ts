/** What Cohere's answers, whole or streamed, have in common, and how a whole one is read. */
import type { AnswerMessage, FinishReason } from '../wire/chat.ts'
import { countOf, type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import type { Usage } from '../wire/usage.ts'
import { planId, reasoningFormat } from './cohere-chat-messages.ts'
import type { ParsedAnswer } from './dialect.ts'
import { inBandFailure, invalidResponse } from './failure.ts'

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR_TOXIC', 'content_filter'],
])

/** A word that we don't know is an `error`, like ERROR and TIMEOUT, never a `stop`. */
export const finishReasonOf = (native: string | null): FinishReason =>
  native === null ? 'error' : (finishReasons.get(native) ?? 'error')

/**
 * Cohere bills `billed_units`; `tokens` also counts its own instructions, which cost nothing. Cached tokens are a part of
 * those and have no price of their own. `null` where nothing was reported that can be charged.
 */
export const parseUsage = (reported: unknown): Usage | null => {
  const usage = fieldsOf(reported)
  const tokens = fieldsOf(usage.tokens)
  const billed = isFields(usage.billed_units) ? usage.billed_units : tokens
  if (billed.input_tokens == null && billed.output_tokens == null) return null
  const input = countOf(billed.input_tokens)
  const output = countOf(billed.output_tokens)
  const reasoning = countOf(tokens.reasoning_tokens)
  if (input < 0 || output < 0) return null
  const parsed: Usage = { tokens: { input, output } }
  if (reasoning > 0) parsed.reasoning = Math.min(reasoning, output)
  return parsed
}

/** A call without parameters is told as an empty text, or as `null`. */
export const callArguments = (written: unknown): string => {
  const text = textOf(written)
  return text === '' || text === 'null' ? '{}' : text
}

/** Chunks of text with the probability of all their tokens, in OpenAI's form. */
export const tokenLogprobs = (items: readonly unknown[]): unknown => {
  const content = items.filter(isFields).map(({ text, logprobs }) => {
    const each = (Array.isArray(logprobs) ? logprobs : []).filter(one => typeof one === 'number')
    const token = textOf(text)
    return {
      token,
      logprob: each.reduce((sum, one) => sum + one, 0),
      bytes: [...Buffer.from(token)],
      top_logprobs: [],
    }
  })
  return content.length > 0 ? { content, refusal: null } : null
}

/** Sources with an address are OpenAI's annotations; others stay as Cohere writes them. */
export const cite = (citations: readonly unknown[], into: Record<string, unknown>): void => {
  const annotations: Fields[] = []
  const others: Fields[] = []
  for (const citation of citations) {
    if (!isFields(citation)) continue
    const addresses = (Array.isArray(citation.sources) ? citation.sources : [])
      .map(source => fieldsOf(fieldsOf(source).document))
      .filter(({ url }) => textOf(url) !== '')
    if (addresses.length === 0) others.push(citation)
    for (const { url, title } of addresses) {
      const place = { start_index: citation.start ?? 0, end_index: citation.end ?? 0 }
      annotations.push({
        type: 'url_citation',
        url_citation: { url, title: textOf(title), ...place },
      })
    }
  }
  if (annotations.length > 0) into.annotations = annotations
  if (others.length > 0) into.citations = others
}

const detail = (text: string, index: number, isPlan: boolean): Fields => ({
  type: 'reasoning.text',
  text,
  format: reasoningFormat,
  index,
  ...(isPlan ? { id: planId } : {}),
})

const joined = (parts: readonly unknown[], type: 'text' | 'thinking'): string =>
  parts.map(part => (fieldsOf(part).type === type ? textOf(fieldsOf(part)[type]) : '')).join('')

const parseMessage = (source: Fields, answerId: string): AnswerMessage => {
  const parts = Array.isArray(source.content) ? source.content : []
  const text = joined(parts, 'text')
  const thinking = joined(parts, 'thinking')
  const plan = textOf(source.tool_plan)
  const calls = Array.isArray(source.tool_calls) ? source.tool_calls.map(fieldsOf) : []
  const content = text === '' && calls.length > 0 ? null : text
  const message: AnswerMessage = { role: 'assistant', content, refusal: null }
  const details: Fields[] = []
  if (thinking !== '') details.push(detail(thinking, 0, false))
  if (plan !== '') details.push(detail(plan, details.length, true))
  if (details.length > 0) {
    message.reasoning = details.map(one => one.text).join('\n')
    message.reasoning_details = details
  }
  if (calls.length > 0) {
    message.tool_calls = calls.map((call, i) => ({
      id: textOf(call.id) || `call_${answerId}_${i}`,
      type: 'function' as const,
      function: {
        name: textOf(fieldsOf(call.function).name),
        arguments: callArguments(fieldsOf(call.function).arguments),
      },
    }))
  }
  if (Array.isArray(source.citations)) cite(source.citations, message)
  return message
}

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw invalidResponse('the answer is not JSON')
  }
}

/** Raises `provider_invalid_response`, and what an error inside a 2xx answer says. */
export const parseResponse = (body: string): ParsedAnswer => {
  const answer = parseJson(body)
  if (!isFields(answer)) throw invalidResponse('the answer is not an object')
  if (answer.error || typeof answer.message === 'string') throw inBandFailure(answer)
  if (!isFields(answer.message)) throw invalidResponse('the answer has no message')
  const native = typeof answer.finish_reason === 'string' ? answer.finish_reason : null
  const choice = {
    index: 0,
    message: parseMessage(answer.message, textOf(answer.id)),
    logprobs: Array.isArray(answer.logprobs) ? tokenLogprobs(answer.logprobs) : null,
    finish_reason: finishReasonOf(native),
    native_finish_reason: native,
  }
  return { answer: { choices: [choice] }, usage: parseUsage(answer.usage) }
}
