/** What Converse's answers, whole or streamed, have in common, and how a whole one is read. */
import type { AnswerMessage, FinishReason } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { jsonToolName } from './answer-format.ts'
import { redactedDetail, textDetail, unwrap } from './bedrock-converse-reasoning.ts'
import { parseUsage } from './bedrock-converse-usage.ts'
import type { ParsedAnswer } from './dialect.ts'
import { inBandFailure, invalidResponse } from './failure.ts'

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])

/** A word that we don't know is an `error`, never a `stop`. An answer through our own JSON tool has called nothing. */
export const finishReasonOf = (native: string | null, calls: number): FinishReason => {
  const reason = native === null ? 'error' : (finishReasons.get(native) ?? 'error')
  return reason === 'tool_calls' && calls === 0 ? 'stop' : reason
}

export type Cited = { annotations: Fields[]; citations: Fields[] }

const addressOf = (citation: Fields): string => {
  const url = textOf(fieldsOf(fieldsOf(citation.location).web).url)
  const source = textOf(citation.source)
  return url === '' && /^https?:\/\//i.test(source) ? source : url
}

const citedText = (citation: Fields): string =>
  Array.isArray(citation.sourceContent)
    ? citation.sourceContent.map(part => textOf(fieldsOf(part).text)).join('')
    : ''

/**
 * The sources of the text between `start` and `end` of the content. Those with an address are OpenAI's `annotations`;
 * places in the client's own documents have no such form and stay as Amazon writes them.
 */
export const cite = (
  citations: readonly unknown[],
  start: number,
  end: number,
  into: Cited,
): void => {
  for (const citation of citations) {
    if (!isFields(citation)) continue
    const url = addressOf(citation)
    if (url === '') {
      into.citations.push({ ...citation, start_index: start, end_index: end })
      continue
    }
    const { domain } = fieldsOf(fieldsOf(citation.location).web)
    const title = textOf(citation.title) || textOf(domain)
    const place = { url, title, start_index: start, end_index: end }
    const content = citedText(citation)
    const url_citation = content === '' ? place : { ...place, content }
    into.annotations.push({ type: 'url_citation', url_citation })
  }
}

/** Of a tool that the provider ran by itself: no call for the client to answer. */
export const isServerTool = ({ type }: Fields): boolean => type === 'server_tool_use'

type Reading = {
  text: string
  /** Where the last block of text starts: citations without a text of their own are of it. */
  textStart: number
  reasoning: string
  details: Fields[]
  calls: NonNullable<AnswerMessage['tool_calls']>
  cited: Cited
}

const readText = (text: string, into: Reading): void => {
  into.textStart = into.text.length
  into.text += text
}

const readReasoning = ({ reasoningText, redactedContent }: Fields, into: Reading): void => {
  const index = into.details.length
  if (isFields(reasoningText)) {
    const text = textOf(reasoningText.text)
    into.reasoning += text
    into.details.push(textDetail(text, textOf(reasoningText.signature) || null, index))
  } else if (typeof redactedContent === 'string')
    into.details.push(redactedDetail(unwrap(redactedContent), index))
}

const readCitations = ({ content, citations }: Fields, into: Reading): void => {
  if (Array.isArray(content))
    readText(content.map(part => textOf(fieldsOf(part).text)).join(''), into)
  if (Array.isArray(citations)) cite(citations, into.textStart, into.text.length, into.cited)
}

const readToolUse = (use: Fields, into: Reading): void => {
  if (isServerTool(use)) return
  const input = JSON.stringify(use.input ?? {})
  if (use.name === jsonToolName) readText(input, into)
  else
    into.calls.push({
      id: textOf(use.toolUseId) || `call_${into.calls.length}`,
      type: 'function',
      function: { name: textOf(use.name), arguments: input },
    })
}

/** Blocks of kinds that we don't know are left out: they belong to tools that the provider ran by itself. */
const readBlock = (block: Fields, into: Reading): void => {
  if (typeof block.text === 'string') readText(block.text, into)
  else if (isFields(block.toolUse)) readToolUse(block.toolUse, into)
  else if (isFields(block.reasoningContent)) readReasoning(block.reasoningContent, into)
  else if (isFields(block.citationsContent)) readCitations(block.citationsContent, into)
}

const messageOf = ({ text, reasoning, details, calls, cited }: Reading): AnswerMessage => {
  const content = text === '' && calls.length > 0 ? null : text
  const message: AnswerMessage = { role: 'assistant', content, refusal: null }
  if (reasoning !== '') message.reasoning = reasoning
  if (details.length > 0) message.reasoning_details = details
  if (calls.length > 0) message.tool_calls = calls
  if (cited.annotations.length > 0) message.annotations = cited.annotations
  if (cited.citations.length > 0) message.citations = cited.citations
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
  const { content } = fieldsOf(fieldsOf(answer.output).message)
  if (!Array.isArray(content)) {
    if (answer.__type || answer.message) throw inBandFailure(answer)
    throw invalidResponse('the answer has no content')
  }
  const reading: Reading = {
    text: '',
    textStart: 0,
    reasoning: '',
    details: [],
    calls: [],
    cited: { annotations: [], citations: [] },
  }
  for (const block of content) if (isFields(block)) readBlock(block, reading)
  const native = typeof answer.stopReason === 'string' ? answer.stopReason : null
  const choice = {
    index: 0,
    message: messageOf(reading),
    logprobs: null,
    finish_reason: finishReasonOf(native, reading.calls.length),
    native_finish_reason: native,
  }
  return { answer: { choices: [choice] }, usage: parseUsage(answer.usage) }
}
