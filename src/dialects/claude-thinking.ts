/**
 * Claude's reasoning, both ways, wherever it is served: how much of it is asked for, and the blocks of earlier turns
 * that must come back unchanged.
 * `reasoning_details` are spelt as OpenRouter does: https://openrouter.ai/docs/use-cases/reasoning-tokens (2026-11).
 */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import type { ClaudeTraits } from './claude-models.ts'
import { unsupported } from './failure.ts'

/** Names whose blocks these are: another provider's signature would be refused. */
export const reasoningFormat = 'anthropic-claude-v1'

/** As Anthropic spells it. Signatures of one platform that serves Claude are good on the others. */
export type ThinkingBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }

const isOurs = (format: unknown): boolean => textOf(format).startsWith(reasoningFormat)

const asBlock = (detail: Fields): ThinkingBlock | null => {
  const data = textOf(detail.data)
  if (detail.type === 'reasoning.encrypted' && isOurs(detail.format) && data !== '')
    return { type: 'redacted_thinking', data }
  if (detail.type !== 'reasoning.text' || typeof detail.signature !== 'string') return null
  if (detail.format !== undefined && detail.format !== null && !isOurs(detail.format)) return null
  return { type: 'thinking', thinking: textOf(detail.text), signature: detail.signature }
}

/**
 * An assistant message's `reasoning_details` as the blocks that they were. A client may send them as they were streamed:
 * pieces of one `index` are one block. What has no signature, or another provider's, can't be replayed and is left out.
 */
export const thinkingBlocks = (details: unknown): ThinkingBlock[] => {
  if (!Array.isArray(details)) return []
  const blocks: ThinkingBlock[] = []
  let open: Record<string, unknown> | null = null
  const close = (): void => {
    const block = open && asBlock(open)
    if (block) blocks.push(block)
    open = null
  }
  for (const detail of details) {
    if (!isFields(detail)) continue
    if (open !== null && !continues(open, detail)) close()
    open = open === null ? { ...detail } : join(open, detail)
  }
  close()
  return blocks
}

const continues = (open: Fields, detail: Fields): boolean =>
  open.type === 'reasoning.text' &&
  detail.type === 'reasoning.text' &&
  typeof open.signature !== 'string' &&
  open.index === detail.index

const join = (open: Fields, detail: Fields): Record<string, unknown> => ({
  ...open,
  ...detail,
  text: textOf(open.text) + textOf(detail.text),
  format: detail.format ?? open.format,
})

export type Thinking = {
  /** The field of that name; `null` leaves the model's own way. */
  readonly thinking: Fields | null
  readonly effort: string | null
}

const minBudget = 1024
/** Budgets above are for batches, says the documentation; it also bounds what a whole answer may cost unseen. */
const budgetBase = 32_768
/** Parts of the output that may be reasoning, as OpenRouter has them. */
const budgetShares: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
}

const budgetOf = (effort: string, maxTokens: number): number =>
  Math.max(minBudget, Math.floor(Math.min(maxTokens, budgetBase) * (budgetShares[effort] ?? 0.5)))

const nothing: Thinking = { thinking: null, effort: null }

const byBudget = (budget: number, traits: ClaudeTraits, maxTokens: number): Thinking => {
  const param = 'reasoning.max_tokens'
  if (traits.thinking === 'none' || traits.thinking === 'effort')
    throw unsupported(
      param,
      'This model takes no reasoning budget in tokens; ask by `reasoning.effort`.',
    )
  if (budget < minBudget || maxTokens <= minBudget)
    throw unsupported(
      param,
      `The provider reasons with ${minBudget} tokens or more, and the answer needs room beyond them.`,
    )
  return {
    thinking: { type: 'enabled', budget_tokens: Math.min(budget, maxTokens - 1) },
    effort: null,
  }
}

const effortName = (effort: string, { takesExtraHigh }: ClaudeTraits): string => {
  if (effort === 'minimal') return 'low'
  return effort === 'xhigh' && !takesExtraHigh ? 'max' : effort
}

const byEffort = (
  effort: string,
  traits: ClaudeTraits,
  maxTokens: number,
  hidden: boolean,
): Thinking => {
  switch (traits.thinking) {
    case 'none':
      throw unsupported('reasoning.effort', 'This model does not reason before it answers.')
    case 'either':
      return { thinking: { type: 'adaptive' }, effort: effortName(effort, traits) }
    case 'effort': {
      // From 4.7 on the API leaves the text out unless asked for.
      const display = hidden ? 'omitted' : 'summarized'
      return { thinking: { type: 'adaptive', display }, effort: effortName(effort, traits) }
    }
    default:
      // Too short an answer to reason within: how much to reason is a wish, the length is not.
      if (maxTokens <= minBudget) return nothing
      return {
        thinking: {
          type: 'enabled',
          budget_tokens: Math.min(budgetOf(effort, maxTokens), maxTokens - 1),
        },
        effort: null,
      }
  }
}

const withoutThinking = (traits: ClaudeTraits): Thinking => {
  if (traits.alwaysThinks)
    throw unsupported('reasoning.effort', 'This model always reasons; ask for the effort `low`.')
  return traits.thinking === 'none' ? nothing : { thinking: { type: 'disabled' }, effort: null }
}

/** What the request asks for, in this model's terms. Raises `unsupported_parameter`. */
export const askedThinking = (
  chat: ChatRequest,
  traits: ClaudeTraits,
  maxTokens: number,
): Thinking => {
  if (isFields(chat.thinking)) return { thinking: chat.thinking, effort: null }
  const reasoning = fieldsOf(chat.reasoning)
  const effort = textOf(reasoning.effort) || textOf(chat.reasoning_effort)
  if (typeof reasoning.max_tokens === 'number')
    return byBudget(reasoning.max_tokens, traits, maxTokens)
  if (effort === 'none' || reasoning.enabled === false) return withoutThinking(traits)
  if (effort === '' && reasoning.enabled !== true) return nothing
  return byEffort(effort || 'medium', traits, maxTokens, reasoning.exclude === true)
}
