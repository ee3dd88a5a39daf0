/** Reasoning through Converse, both ways: how each family of models is asked for it, and blocks that must come back. */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import type { Block } from './bedrock-converse-content.ts'
import type { ModelTraits } from './bedrock-converse-models.ts'
import { askedThinking, reasoningFormat, type Thinking, thinkingBlocks } from './claude-thinking.ts'
import { unsupported } from './failure.ts'

/** Redacted reasoning is Anthropic's own text, which Amazon wraps in base64 once more. */
const wrap = (data: string): string => Buffer.from(data, 'latin1').toString('base64')
export const unwrap = (data: string): string => Buffer.from(data, 'base64').toString('latin1')

/** An assistant message's `reasoning_details` as the blocks that they were; what is not signed can't be replayed. */
export const reasoningBlocks = (details: unknown): Block[] =>
  thinkingBlocks(details).map(block =>
    block.type === 'thinking'
      ? {
          reasoningContent: {
            reasoningText: { text: block.thinking, signature: block.signature },
          },
        }
      : { reasoningContent: { redactedContent: wrap(block.data) } },
  )

/** Only Claude signs what it reasons, and what isn't signed has no format that anybody must know. */
export const textDetail = (text: string, signature: string | null, index: number): Fields => ({
  type: 'reasoning.text',
  text,
  signature,
  format: signature === null ? null : reasoningFormat,
  index,
})

export const redactedDetail = (data: string, index: number): Fields => ({
  type: 'reasoning.encrypted',
  data,
  format: reasoningFormat,
  index,
})

export type AskedReasoning = {
  /** Of the model's own fields. */
  readonly fields: Fields
  readonly effort: string | null
  /** The model reasons before it answers because it was asked to. */
  readonly isOn: boolean
}

const nothing: AskedReasoning = { fields: {}, effort: null, isOn: false }

const fromThinking = ({ thinking, effort }: Thinking): AskedReasoning => ({
  fields: thinking === null ? {} : { thinking },
  effort,
  isOn: thinking !== null && thinking.type !== 'disabled',
})

const levelOf = (effort: string): 'low' | 'medium' | 'high' => {
  if (effort === 'minimal' || effort === 'low') return 'low'
  return effort === 'medium' ? 'medium' : 'high'
}

/** Nova refuses the highest level together with a maximum of tokens, and a maximum is a promise, an effort a wish. */
const novaLevel = (effort: string, hasMaximum: boolean): string => {
  const level = levelOf(effort)
  return level === 'high' && hasMaximum ? 'medium' : level
}

/** `maxTokens`: what the request will ask for at the most, `null` where it leaves that to the model. */
export const askedReasoning = (
  chat: ChatRequest,
  traits: ModelTraits,
  maxTokens: number | null,
): AskedReasoning => {
  if (traits.reasoning === 'claude' && traits.claude !== null)
    return fromThinking(
      askedThinking(chat, traits.claude, maxTokens ?? traits.claude.defaultMaxTokens),
    )
  const { max_tokens: budget, effort: asked, enabled } = fieldsOf(chat.reasoning)
  const effort =
    textOf(asked) || textOf(chat.reasoning_effort) || (enabled === true ? 'medium' : '')
  if (chat.thinking) throw unsupported('thinking', 'This model takes no `thinking`.')
  if (typeof budget === 'number')
    throw unsupported('reasoning.max_tokens', 'This model takes no reasoning budget in tokens.')
  if (effort === '') return nothing
  if (effort === 'none' || enabled === false)
    return traits.reasoning === 'nova'
      ? { ...nothing, fields: { reasoningConfig: { type: 'disabled' } } }
      : nothing
  if (traits.reasoning === 'gpt-oss')
    return { fields: { reasoning_effort: levelOf(effort) }, effort: null, isOn: true }
  if (traits.reasoning === 'nova') {
    const maxReasoningEffort = novaLevel(effort, maxTokens !== null)
    return {
      fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort } },
      effort: null,
      isOn: true,
    }
  }
  throw unsupported('reasoning.effort', 'This model does not take a reasoning effort.')
}
