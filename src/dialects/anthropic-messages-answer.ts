/** What Anthropic's answers, whole or streamed, have in common, and how a whole one is read. */
import type { AnswerMessage, FinishReason } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { jsonToolName } from './answer-format.ts'
import { AnthropicUsage } from './anthropic-messages-usage.ts'
import { reasoningFormat } from './claude-thinking.ts'
import type { ParsedAnswer } from './dialect.ts'
import { inBandFailure, invalidResponse } from './failure.ts'

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** A word that we don't know is an `error`, never a `stop`. An answer through our own JSON tool has called nothing. */
export const finishReasonOf = (native: string | null, calls: number): FinishReason => {
  const reason = native === null ? 'error' : (finishReasons.get(native) ?? 'error')
  return reason === 'tool_calls' && calls === 0 ? 'stop' : reason
}

export type Annotation = {
  type: 'url_citation'
  url_citation: {
    url: string
    title: string
    start_index: number
    end_index: number
    content?: string
  }
}

export type Cited = { annotations: Annotation[]; citations: Fields[] }

/**
 * The sources of a text block, which spans `start` to `end` of the content. Those with an address are OpenAI's
 * `annotations`; places in the client's own documents have no such form and stay as Anthropic writes them.
 */
export const cite = (
  citations: readonly unknown[],
  start: number,
  end: number,
  into: Cited,
): void => {
  for (const citation of citations) {
    if (!isFields(citation)) continue
    const url = textOf(citation.url)
    if (url === '') {
      into.citations.push({ ...citation, start_index: start, end_index: end })
      continue
    }
    const place = { url, title: textOf(citation.title), start_index: start, end_index: end }
    const content = textOf(citation.cited_text)
    into.annotations.push({
      type: 'url_citation',
      url_citation: content === '' ? place : { ...place, content },
    })
  }
}

/** Why a refusal was one, where it says. */
export const refusalOf = (stopDetails: unknown): string | null =>
  textOf(fieldsOf(stopDetails).explanation) || null

export const redactedDetail = (block: Fields, index: number): Fields => ({
  type: 'reasoning.encrypted',
  data: block.data,
  format: reasoningFormat,
  index,
})

type Reading = {
  text: string
  reasoning: string
  details: Fields[]
  calls: NonNullable<AnswerMessage['tool_calls']>
  cited: Cited
}

/** Blocks of kinds that we don't know are left out: they belong to tools that the provider ran by itself. */
const readBlock = (block: Fields, into: Reading): void => {
  switch (block.type) {
    case 'text': {
      const start = into.text.length
      into.text += textOf(block.text)
      if (Array.isArray(block.citations)) cite(block.citations, start, into.text.length, into.cited)
      break
    }
    case 'thinking':
      into.reasoning += textOf(block.thinking)
      into.details.push({
        type: 'reasoning.text',
        text: textOf(block.thinking),
        signature: typeof block.signature === 'string' ? block.signature : null,
        format: reasoningFormat,
        index: into.details.length,
      })
      break
    case 'redacted_thinking':
      into.details.push(redactedDetail(block, into.details.length))
      break
    case 'tool_use': {
      const input = JSON.stringify(block.input ?? {})
      if (block.name === jsonToolName) into.text += input
      else
        into.calls.push({
          id: textOf(block.id) || `call_${into.calls.length}`,
          type: 'function',
          function: { name: textOf(block.name), arguments: input },
        })
      break
    }
  }
}

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw invalidResponse('the answer is not JSON')
  }
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

/** Raises `provider_invalid_response`, and what an error inside a 2xx answer says. */
export const parseResponse = (body: string): ParsedAnswer => {
  const answer = parseJson(body)
  if (!isFields(answer)) throw invalidResponse('the answer is not an object')
  if (answer.type === 'error' || answer.error) throw inBandFailure(answer)
  if (!Array.isArray(answer.content)) throw invalidResponse('the answer has no content')
  const reading: Reading = {
    text: '',
    reasoning: '',
    details: [],
    calls: [],
    cited: { annotations: [], citations: [] },
  }
  for (const block of answer.content) if (isFields(block)) readBlock(block, reading)
  const message = messageOf(reading)
  const native = typeof answer.stop_reason === 'string' ? answer.stop_reason : null
  if (native === 'refusal') message.refusal = refusalOf(answer.stop_details)
  const usage = new AnthropicUsage()
  usage.add(answer.usage)
  const choice = {
    index: 0,
    message,
    logprobs: null,
    finish_reason: finishReasonOf(native, reading.calls.length),
    native_finish_reason: native,
  }
  return { answer: { choices: [choice] }, usage: usage.read() }
}
