import { chargeOf } from '../ledger/charge.ts'
import type { AppliedRates } from '../ledger/receipt.ts'
import type { Model } from '../models/model.ts'
import type { ChatRequest } from '../wire/chat.ts'

/** The most that a request can use, in tokens, before it is known what it will. */
export type Estimate = {
  inputTokens: number
  /** All choices together. What the client named, else a grant. */
  outputTokens: number
  /** The client named its maximum, so it is kept to the letter or the request is refused. */
  outputNamed: boolean
  /** Choices asked for: each may use the cap. */
  choices: number
}

/** Held for a request that named no maximum, so that one open request does not lock the account. */
const streamGrantTokens = 4_096
/** A whole answer, or reasoning that no stream shows, gives no sign of how far it is: it needs more at once. */
const unseenGrantTokens = 16_384

// Measured on 3,828 recorded calls: half a token a byte, plus what templates add, falls short in 0.5 %.
const templateTokens = 256
const toolTemplateTokens = 1_024

/** Allowances for what is not text, tokens each. */
const imageTokens = 2_000
const detailedImageTokens = 4_800
const unknownContextTokens = 131_072
/** Providers count 10 to 32 tokens a second of audio; base64 of the most compressed formats is about 2 kB a second. */
const audioBytesPerToken = 64
/** Plain text in base64 is about 5 bytes a token; a PDF, compressed and charged by the page, is far more. */
const fileBytesPerToken = 4

/** `bytes`: size of the whole request body. Input is bounded by the model's context window, where that is known. */
export const estimate = (chat: ChatRequest, bytes: number, model: Model): Estimate => {
  const media = mediaOf(chat, model)
  const template =
    chat.tools || chat.response_format ? templateTokens + toolTemplateTokens : templateTokens
  const counted = Math.ceil(Math.max(0, bytes - media.bytes) / 2) + template + media.tokens
  const choices = chat.n ?? 1
  const named = chat.max_completion_tokens ?? chat.max_tokens
  const perChoice = named ?? grantTokens(chat, model)
  return {
    inputTokens: Math.min(counted, model.contextWindow ?? Number.MAX_SAFE_INTEGER),
    outputTokens: choices * Math.min(perChoice, model.maxOutputTokens ?? perChoice),
    outputNamed: named !== null && named !== undefined,
    choices,
  }
}

const grantTokens = (chat: ChatRequest, model: Model): number =>
  chat.stream && !model.reasons ? streamGrantTokens : unseenGrantTokens

/** nano-USD that a request may cost at most; the dearest class that input may turn out to be. */
export const costAtMost = (
  inputTokens: number,
  outputTokens: number,
  applied: AppliedRates,
): bigint => {
  const { input = 0n, cacheWrite = 0n } = applied.rates
  const tokens =
    cacheWrite > input
      ? { cacheWrite: inputTokens, output: outputTokens }
      : { input: inputTokens, output: outputTokens }
  const usage = applied.fees.request === undefined ? { tokens } : { tokens, counts: oneRequest }
  return chargeOf(usage, applied)
}

const oneRequest = { request: 1 }

/** How many output tokens `availableNanoUsd` pays for, once the input is paid. Not above `atMost`. */
export const affordableOutput = (
  availableNanoUsd: bigint,
  inputTokens: number,
  atMost: number,
  applied: AppliedRates,
): number => {
  const left = availableNanoUsd - costAtMost(inputTokens, 0, applied)
  if (left < 0n) return 0
  const rate = (applied.rates.output ?? 0n) * BigInt(10_000 + applied.markupBasisPoints)
  if (rate === 0n) return atMost
  // One nano-dollar less, since the charge is rounded at the end and could round up.
  const tokens = left === 0n ? 0n : ((left - 1n) * 10_000_000_000n) / rate
  return tokens > BigInt(atMost) ? atMost : Number(tokens)
}

/** Parts that are not text: their bytes say little about their tokens, so they are allowed for by kind. */
const mediaOf = (chat: ChatRequest, model: Model): { bytes: number; tokens: number } => {
  let bytes = 0
  let tokens = 0
  for (const { content } of chat.messages) {
    if (typeof content === 'string' || !content) continue
    for (const part of content) {
      const allowed = allowanceOf(part, model)
      bytes += allowed.bytes
      tokens += allowed.tokens
    }
  }
  return { bytes, tokens }
}

const nothing = { bytes: 0, tokens: 0 }

const allowanceOf = (part: { type: string; [key: string]: unknown }, model: Model) => {
  switch (part.type) {
    case 'image_url': {
      const image = fieldsOf(part.image_url)
      const tokens = image.detail === 'high' ? detailedImageTokens : imageTokens
      return { bytes: lengthOf(image.url), tokens }
    }
    case 'input_audio': {
      const bytes = lengthOf(fieldsOf(part.input_audio).data)
      return { bytes, tokens: Math.ceil(bytes / audioBytesPerToken) }
    }
    case 'file': {
      const { file_data: data } = fieldsOf(part.file)
      const bytes = lengthOf(data)
      // By reference: whatever it holds, it can't be more than the model reads.
      if (bytes === 0 || isReference(data))
        return { bytes, tokens: model.contextWindow ?? unknownContextTokens }
      return { bytes, tokens: Math.ceil(bytes / fileBytesPerToken) }
    }
    case 'video_url':
      return { bytes: 0, tokens: model.contextWindow ?? unknownContextTokens }
    default:
      return nothing
  }
}

const fieldsOf = (value: unknown): { [name: string]: unknown } =>
  typeof value === 'object' && value !== null ? { ...value } : { url: value }

const isReference = (value: unknown): boolean =>
  typeof value === 'string' && /^(https?|gs|s3):/i.test(value)

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0)
