/** A whole Gemini answer: https://ai.google.dev/api/generate-content#GenerateContentResponse (2026-11). */
import type { AnswerChoice, AnswerMessage, ChunkChoice } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import type { ParsedAnswer } from './dialect.ts'
import { inBandFailure, invalidResponse } from './failure.ts'
import { Candidate } from './gemini-candidate.ts'
import { readUsage } from './gemini-usage.ts'

/** More than the API makes at once, so that a broken index can't grow a list without end. */
const maxCandidates = 128

export const candidateIndex = (candidate: Fields, position: number): number => {
  const index = candidate.index ?? position
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= maxCandidates)
    throw invalidResponse('a candidate has no sane index')
  return index
}

/** What became of a prompt that was refused; `null` where it wasn't. */
export const blockedPrompt = (answer: Fields): ChunkChoice | null => {
  const { blockReason, blockReasonMessage } = fieldsOf(answer.promptFeedback)
  if (textOf(blockReason) === '') return null
  return new Candidate(0).block(textOf(blockReason), textOf(blockReasonMessage))
}

/** Proxies and the API itself wrap errors in a list. */
export const unwrap = (answer: unknown): unknown => (Array.isArray(answer) ? answer[0] : answer)

const messageOf = ({ tool_calls, ...delta }: ChunkChoice['delta']): AnswerMessage => {
  const { content, refusal, ...rest } = delta
  const calls = tool_calls ?? []
  const message: AnswerMessage = {
    role: 'assistant',
    content: (content ?? '') === '' && calls.length > 0 ? null : (content ?? ''),
    refusal: refusal ?? null,
    ...rest,
  }
  if (calls.length === 0) return message
  // `as`: in a whole answer each call is told at once.
  message.tool_calls = calls.map(({ index: _, ...call }) => call) as NonNullable<
    AnswerMessage['tool_calls']
  >
  return message
}

const choiceOf = (choice: ChunkChoice): AnswerChoice => ({
  index: choice.index,
  message: messageOf(choice.delta),
  logprobs: choice.logprobs,
  finish_reason: choice.finish_reason ?? 'error',
  native_finish_reason: choice.native_finish_reason ?? null,
})

const emptyChoice = (index: number): ChunkChoice => ({
  index,
  delta: {},
  logprobs: null,
  finish_reason: null,
})

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw invalidResponse('the answer is not JSON')
  }
}

/** Raises `provider_invalid_response`, and what an error inside a 2xx answer says. */
export const parseResponse = (body: string): ParsedAnswer => {
  const answer = unwrap(parseJson(body))
  if (!isFields(answer)) throw invalidResponse('the answer is not an object')
  if (answer.error) throw inBandFailure(answer)
  const usage = readUsage(fieldsOf(answer.usageMetadata))
  const candidates: unknown[] = Array.isArray(answer.candidates) ? answer.candidates : []
  const choices = candidates.filter(isFields).map((candidate, position) => {
    const index = candidateIndex(candidate, position)
    const read = new Candidate(index).read(candidate, textOf(answer.responseId))
    return choiceOf(read ?? emptyChoice(index))
  })
  if (choices.length === 0) {
    const blocked = blockedPrompt(answer)
    if (blocked === null) throw invalidResponse('the answer has no candidates')
    choices.push(choiceOf(blocked))
  }
  return { answer: { choices }, usage }
}
