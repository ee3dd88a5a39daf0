/**
 * Reasoning, both ways: how much of it is asked for, and the signatures of earlier turns that must come back unchanged.
 * `reasoning_details` are spelt as OpenRouter does (https://openrouter.ai/docs/use-cases/reasoning-tokens), the
 * signature of a call also as Google's own chat completions do
 * (https://ai.google.dev/gemini-api/docs/thought-signatures), so that it survives whichever of the two a client keeps.
 */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'
import type { GeminiTraits } from './gemini-models.ts'

/** Names whose signatures these are: another provider's would be refused. */
export const reasoningFormat = 'google-gemini-v1'

/** The documented stand-in for a call that another model made. */
export const foreignSignature = 'skip_thought_signature_validator'

/** On a call, and on a message. */
export const extraContent = (signature: string): Fields => ({
  google: { thought_signature: signature },
})

/** What was signed in one earlier answer. */
export type Signatures = {
  /** Thoughts that carry a signature of their own. */
  readonly thoughts: Fields[]
  readonly byCall: Map<string, string>
  /** Of the text. */
  readonly unnamed: string[]
}

const signatureIn = (extra: unknown): string =>
  textOf(fieldsOf(fieldsOf(extra).google).thought_signature)

/** The signature of a call of an earlier turn; empty where it has none. */
export const callSignature = (call: Fields, { byCall }: Signatures): string =>
  signatureIn(call.extra_content) || (byCall.get(textOf(call.id)) ?? '')

/** Of an assistant message. Pieces of one `index`, as they were streamed, are one thought. */
export const readSignatures = (message: Fields): Signatures => {
  const found: Signatures = { thoughts: [], byCall: new Map(), unnamed: [] }
  const texts = new Map<unknown, string>()
  const details: unknown[] = Array.isArray(message.reasoning_details)
    ? message.reasoning_details
    : []
  let format: unknown = null
  for (const detail of details) {
    if (!isFields(detail)) continue
    // A piece after the first of its block doesn't repeat the format.
    format = detail.format ?? format
    if (!textOf(format).startsWith('google-gemini')) continue
    if (detail.type === 'reasoning.encrypted' && textOf(detail.data) !== '') {
      const id = textOf(detail.id)
      if (id === '') found.unnamed.push(textOf(detail.data))
      else found.byCall.set(id, textOf(detail.data))
    } else if (detail.type === 'reasoning.text') {
      const text = (texts.get(detail.index) ?? '') + textOf(detail.text)
      texts.set(detail.index, text)
      if (textOf(detail.signature) !== '')
        found.thoughts.push({ text, thought: true, thoughtSignature: detail.signature })
    }
  }
  const own = signatureIn(message.extra_content)
  if (own !== '' && !found.unnamed.includes(own)) found.unnamed.push(own)
  return found
}

/** As Google's own chat completions translate them. */
const budgets: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
}

const byEffort = (effort: string, traits: GeminiTraits): Fields => {
  if (traits.thinking === 'budget')
    return {
      thinkingBudget: Math.min(budgets[effort] ?? traits.largestBudget, traits.largestBudget),
    }
  if (effort === 'minimal') return { thinkingLevel: traits.takesMinimal ? 'MINIMAL' : 'LOW' }
  if (effort === 'low') return { thinkingLevel: 'LOW' }
  return { thinkingLevel: effort === 'medium' && traits.takesMedium ? 'MEDIUM' : 'HIGH' }
}

const atRest = (traits: GeminiTraits): Fields | null => {
  if (traits.thinking === 'none') return null
  if (!traits.canRest)
    throw unsupported('reasoning.effort', 'This model always reasons; ask for the effort `low`.')
  // Of thoughts that are switched off none may be asked for.
  return traits.thinking === 'budget' ? { thinkingBudget: 0 } : { thinkingLevel: 'MINIMAL' }
}

/** `thinkingConfig`, in this model's terms; `null` leaves the model's own way. Raises `unsupported_parameter`. */
export const askedThinking = (chat: ChatRequest, traits: GeminiTraits): Fields | null => {
  const reasoning = fieldsOf(chat.reasoning)
  const effort = textOf(reasoning.effort) || textOf(chat.reasoning_effort)
  const budget = reasoning.max_tokens
  if (effort === 'none' || reasoning.enabled === false) return atRest(traits)
  const isAsked = typeof budget === 'number' || effort !== '' || reasoning.enabled === true
  if (traits.thinking === 'none') {
    if (!isAsked) return null
    const param = typeof budget === 'number' ? 'reasoning.max_tokens' : 'reasoning.effort'
    throw unsupported(param, 'This model does not reason before it answers.')
  }
  const includeThoughts = reasoning.exclude !== true
  if (typeof budget === 'number') {
    const thinkingBudget = Math.max(traits.smallestBudget, Math.min(budget, traits.largestBudget))
    return { thinkingBudget, includeThoughts }
  }
  if (effort !== '') return { ...byEffort(effort, traits), includeThoughts }
  return isAsked || chat.include_reasoning === true ? { includeThoughts } : null
}
