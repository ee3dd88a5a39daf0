/** One candidate of an answer, whole or in pieces, as the delta of a choice. */
import type { ChatDelta, ChunkChoice, FinishReason, ToolCallDelta } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { annotationsOf } from './gemini-citations.ts'
import { PartialArguments } from './gemini-partial-arguments.ts'
import { extraContent, reasoningFormat } from './gemini-thinking.ts'

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
])

/** Far above any real answer, so that a broken one can't grow a list without end. */
const maxToolCalls = 1024

type Writable = Record<string, unknown>

/** Arguments of a call under way, which come in pieces where they come so. */
type OpenCall = { index: number; input: PartialArguments }

export class Candidate {
  readonly index: number
  finished = false
  /** All text so far. */
  text = ''
  #started = false
  #calls = 0
  #open: OpenCall | null = null
  #details = 0
  /** The thought under way; its pieces share an index. */
  #thought: number | null = null
  #grounding: unknown = null
  #citation: unknown = null

  constructor(index: number) {
    this.index = index
  }

  /** Nothing but a piece of text may be passed on without being looked at. */
  get isPlain(): boolean {
    return this.#started && !this.finished && this.#open === null
  }

  /** Only text is left of it; what it thought is over. */
  addText(text: string): void {
    this.text += text
    this.#thought = null
  }

  /** `null` where this piece says nothing. `answerId` makes the ids of calls that have none. */
  read(candidate: Fields, answerId: string): ChunkChoice | null {
    const delta: ChatDelta = {}
    const { parts } = fieldsOf(candidate.content)
    if (Array.isArray(parts))
      for (const part of parts) if (isFields(part)) this.#readPart(part, delta, answerId)
    if (isFields(candidate.groundingMetadata) && candidate.groundingMetadata.groundingChunks)
      this.#grounding = candidate.groundingMetadata
    if (isFields(candidate.citationMetadata)) this.#citation = candidate.citationMetadata
    const native = textOf(candidate.finishReason)
    if (native !== '') this.#finish(native, candidate, delta)
    const logprobs = logprobsOf(candidate.logprobsResult)
    if (native === '' && logprobs === null && isEmpty(delta)) return null
    return this.#choice(delta, logprobs, native === '' ? null : native)
  }

  /** The prompt itself was refused: there is no candidate, and this stands for it. */
  block(reason: string, message: string): ChunkChoice {
    this.finished = true
    const delta: ChatDelta = message === '' ? {} : { refusal: message }
    return { ...this.#choice(delta, null, reason), finish_reason: 'content_filter' }
  }

  #choice(delta: ChatDelta, logprobs: unknown, native: string | null): ChunkChoice {
    const started = this.#started
    this.#started = true
    return {
      index: this.index,
      delta: started ? delta : { role: 'assistant', content: '', refusal: null, ...delta },
      logprobs,
      finish_reason: native === null ? null : this.#finishReason(native),
      ...(native === null ? {} : { native_finish_reason: native }),
    }
  }

  /** A word that we don't know is an `error`, never a `stop`. */
  #finishReason(native: string): FinishReason {
    const reason = finishReasons.get(native) ?? 'error'
    return reason === 'stop' && this.#calls > 0 ? 'tool_calls' : reason
  }

  #finish(native: string, candidate: Fields, delta: ChatDelta): void {
    this.#closeCall(delta)
    this.finished = true
    const message = textOf(candidate.finishMessage)
    if (message !== '' && finishReasons.get(native) === 'content_filter') delta.refusal = message
    const annotations = annotationsOf(this.#grounding, this.#citation, this.text)
    if (annotations.length > 0) delta.annotations = annotations
  }

  /** Parts of kinds that we don't know belong to tools that the provider ran by itself; their signatures do not. */
  #readPart(part: Fields, delta: ChatDelta, answerId: string): void {
    const signature = textOf(part.thoughtSignature)
    if (isFields(part.functionCall)) {
      this.#readCall(part.functionCall, signature, delta, answerId)
      return
    }
    const text = textOf(part.text)
    if (part.thought === true) {
      this.#addThought(text, signature, delta)
      return
    }
    if (text !== '') {
      this.addText(text)
      delta.content = (delta.content ?? '') + text
    }
    if (isFields(part.inlineData)) addImage(part.inlineData, delta)
    const isOurs = part.text !== undefined || part.inlineData !== undefined
    if (signature !== '' && isOurs) this.#addSignature(signature, null, delta)
  }

  #addThought(text: string, signature: string, delta: ChatDelta): void {
    if (text === '' && signature === '') return
    const isNew = this.#thought === null
    this.#thought ??= this.#details++
    if (text !== '') delta.reasoning = (delta.reasoning ?? '') + text
    const list = detailsOf(delta)
    const last = list.at(-1)
    const joins = last !== undefined && last.index === this.#thought
    const detail: Writable = joins
      ? last
      : { type: 'reasoning.text', text: '', index: this.#thought }
    detail.text = textOf(detail.text) + text
    // Once for each thought: clients join the texts of what they gather.
    if (isNew) detail.format = reasoningFormat
    if (signature !== '') {
      detail.signature = signature
      this.#thought = null
    }
    if (!joins) list.push(detail)
  }

  #addSignature(data: string, callId: string | null, delta: ChatDelta): void {
    this.#thought = null
    const detail: Writable = { type: 'reasoning.encrypted', data }
    if (callId !== null) detail.id = callId
    detailsOf(delta).push({ ...detail, format: reasoningFormat, index: this.#details++ })
  }

  #readCall(call: Fields, signature: string, delta: ChatDelta, answerId: string): void {
    const name = textOf(call.name)
    const goesOn = call.willContinue === true
    if (name === '') {
      this.#open?.input.add(call.partialArgs)
      if (!goesOn) this.#closeCall(delta)
      return
    }
    this.#closeCall(delta)
    if (this.#calls >= maxToolCalls) return
    const index = this.#calls++
    const id = textOf(call.id) || synthesiseCallId(answerId, this.index, index)
    const inPieces = goesOn || Array.isArray(call.partialArgs)
    const input = inPieces ? '' : JSON.stringify(call.args ?? {})
    const started: ToolCallDelta = {
      index,
      id,
      type: 'function',
      function: { name, arguments: input },
    }
    if (signature !== '') {
      started.extra_content = extraContent(signature)
      this.#addSignature(signature, id, delta)
    }
    this.#thought = null
    callsOf(delta).push(started)
    if (!inPieces) return
    this.#open = { index, input: new PartialArguments() }
    this.#open.input.add(call.partialArgs)
    if (!goesOn) this.#closeCall(delta)
  }

  #closeCall(delta: ChatDelta): void {
    if (this.#open === null) return
    const { index, input } = this.#open
    this.#open = null
    const calls = callsOf(delta)
    const last = calls.at(-1)
    if (last?.index === index && last.function) last.function.arguments = input.toString()
    else calls.push({ index, function: { arguments: input.toString() } })
  }
}

const detailsOf = (delta: ChatDelta): Writable[] => {
  // `as`: no one else writes this field.
  const list = (delta.reasoning_details ?? []) as Writable[]
  delta.reasoning_details = list
  return list
}

const callsOf = (delta: ChatDelta): ToolCallDelta[] => {
  delta.tool_calls ??= []
  return delta.tool_calls
}

/** As OpenRouter returns images: https://openrouter.ai/docs/features/multimodal/image-generation (2026-11). */
const addImage = ({ mimeType, data }: Fields, delta: ChatDelta): void => {
  const images = Array.isArray(delta.images) ? delta.images : []
  const url = `data:${textOf(mimeType)};base64,${textOf(data)}`
  delta.images = [...images, { type: 'image_url', image_url: { url } }]
}

/** Unlike in earlier turns of a conversation, since answers' ids differ. */
const synthesiseCallId = (answerId: string, choice: number, call: number): string =>
  `call_${answerId.replace(/[^A-Za-z0-9]/g, '').slice(-24)}_${choice}_${call}`

const isEmpty = (delta: ChatDelta): boolean => {
  for (const _ in delta) return false
  return true
}

const tokenOf = (candidate: unknown): Fields => {
  const { token, logProbability } = fieldsOf(candidate)
  const text = textOf(token)
  return { token: text, logprob: Number(logProbability ?? 0), bytes: [...Buffer.from(text)] }
}

/** https://ai.google.dev/api/generate-content#LogprobsResult (2026-11), as OpenAI writes it. */
const logprobsOf = (result: unknown): unknown => {
  const { chosenCandidates, topCandidates } = fieldsOf(result)
  if (!Array.isArray(chosenCandidates)) return null
  const tops: unknown[] = Array.isArray(topCandidates) ? topCandidates : []
  const content = chosenCandidates.map((chosen, i) => {
    const { candidates } = fieldsOf(tops[i])
    const top_logprobs = Array.isArray(candidates) ? candidates.map(tokenOf) : []
    return { ...tokenOf(chosen), top_logprobs }
  })
  return { content, refusal: null }
}
