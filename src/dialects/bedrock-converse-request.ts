/**
 * From the hub's request to Converse's:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11).
 */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, isFields } from '../wire/fields.ts'
import { encodeStrictly } from '../wire/sigv4.ts'
import { isBlank } from './bedrock-converse-content.ts'
import { type ModelTraits, modelTraits } from './bedrock-converse-models.ts'
import { type AskedReasoning, askedReasoning } from './bedrock-converse-reasoning.ts'
import { renderToolFields, type ToolFields } from './bedrock-converse-tools.ts'
import { renderConversation, type Turn } from './bedrock-converse-turns.ts'
import type { RenderedRequest, RenderTarget } from './dialect.ts'
import { unsupported } from './failure.ts'
import { knownFields, refuseUnknown } from './request-fields.ts'

type Body = Record<string, unknown>

/** Read below; `user` and `safety_identifier` are hints, and have no place here. */
const known = knownFields([
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'stop',
  'temperature',
  'top_p',
  'top_k',
  'user',
  'safety_identifier',
  'metadata',
  'cache_control',
])

/** `null` leaves it to the model. */
const maxTokensOf = (
  chat: ChatRequest,
  most: number | null,
  { claude }: ModelTraits,
): number | null => {
  const asked = [chat.max_completion_tokens, chat.max_tokens, most].filter(
    limit => typeof limit === 'number',
  )
  return asked.length === 0
    ? null
    : Math.min(...asked, claude?.maxOutputTokens ?? Number.MAX_SAFE_INTEGER)
}

const stopSequences = (stop: unknown): string[] => {
  const sequences = (Array.isArray(stop) ? stop : [stop]).filter(one => typeof one === 'string')
  if (sequences.some(isBlank))
    throw unsupported('stop', 'The provider takes no stop sequence of white space alone.')
  return sequences
}

const topK = (value: number, model: string): Fields =>
  model.includes('amazon.nova') ? { inferenceConfig: { topK: value } } : { top_k: value }

/** Sampling is a wish: what the model can't do is bounded (temperature ends at 1 here) or left out. */
const writeSampling = (
  config: Body,
  fields: Body,
  chat: ChatRequest,
  model: string,
  traits: ModelTraits,
): void => {
  if (traits.claude?.takesSampling === false) return
  const { temperature, top_p, top_k } = chat
  if (typeof temperature === 'number') config.temperature = Math.min(temperature, 1)
  const excluded = traits.claude?.oneOfSampling === true && config.temperature !== undefined
  if (typeof top_p === 'number' && !excluded) config.topP = top_p
  if (typeof top_k === 'number') Object.assign(fields, topK(top_k, model))
}

/** Claude wants the reasoning that led to a call before it, or none at all. */
const lacksReasoning = (turns: readonly Turn[]): boolean => {
  const answer = turns.findLast(({ role }) => role === 'assistant')?.content ?? []
  return answer.some(block => block.toolUse) && !answer[0]?.reasoningContent
}

const withoutReasoning: AskedReasoning = { fields: {}, effort: null, isOn: false }

/** A forced tool excludes Claude's reasoning: that the tool is called is a promise, how much to reason a wish. */
const allowedReasoning = (
  asked: AskedReasoning,
  { isForced }: ToolFields,
  turns: readonly Turn[],
): AskedReasoning => {
  const { thinking } = asked.fields
  if (!asked.isOn || !isFields(thinking)) return asked
  const excluded = isForced || (thinking.type === 'enabled' && lacksReasoning(turns))
  return excluded ? { ...withoutReasoning, effort: asked.effort } : asked
}

const metadataText = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/
const maxMetadata = 16

/** For the operator's own log of requests; entries that it doesn't take are left out. */
const requestMetadata = (metadata: unknown): Fields | null => {
  if (!isFields(metadata)) return null
  const kept = Object.entries(metadata)
    .filter(([name, value]) => metadataText.test(name) && metadataText.test(String(value)))
    .filter(([, value]) => typeof value === 'string')
    .slice(0, maxMetadata)
  return kept.length === 0 ? null : Object.fromEntries(kept)
}

const isEmpty = (fields: Fields): boolean => {
  for (const _ in fields) return false
  return true
}

/** An effort stands beside the form of the answer where there is one, else among the model's own fields. */
const writeOutput = (
  body: Body,
  fields: Body,
  effort: string | null,
  textFormat: Fields | undefined,
): void => {
  if (textFormat !== undefined)
    body.outputConfig = effort === null ? { textFormat } : { textFormat, effort }
  else if (effort !== null) fields.output_config = { effort }
}

export const renderRequest = (chat: ChatRequest, target: RenderTarget): RenderedRequest => {
  refuseUnknown(chat, known)
  const model = target.upstreamModel
  const traits = modelTraits(model)
  const maximum = maxTokensOf(chat, target.maxOutputTokens, traits)
  const { system, turns } = renderConversation(chat, traits)
  const tools = renderToolFields(chat, traits, turns)
  const asked = allowedReasoning(askedReasoning(chat, traits, maximum), tools, turns)

  const body: Body = { messages: turns }
  const fields: Body = { ...asked.fields, ...tools.fields }
  const config: Body = {}
  const hasBudget = isFields(fields.thinking) && fields.thinking.type === 'enabled'
  // A budget of reasoning is a part of the maximum, so it needs one.
  const maxTokens = maximum ?? (hasBudget ? traits.claude?.defaultMaxTokens : undefined)
  if (maxTokens !== undefined) config.maxTokens = maxTokens
  const stop = stopSequences(chat.stop)
  if (stop.length > 0) config.stopSequences = stop
  if (!asked.isOn || traits.reasoning !== 'claude')
    writeSampling(config, fields, chat, model, traits)
  if (system.length > 0) body.system = system
  if (!isEmpty(config)) body.inferenceConfig = config
  if (tools.toolConfig) body.toolConfig = tools.toolConfig
  writeOutput(body, fields, asked.effort, tools.textFormat)
  if (!isEmpty(fields)) body.additionalModelRequestFields = fields
  const metadata = requestMetadata(chat.metadata)
  if (metadata !== null) body.requestMetadata = metadata
  const verb = chat.stream === true ? 'converse-stream' : 'converse'
  return { path: `/model/${encodeStrictly(model)}/${verb}`, body: JSON.stringify(body) }
}
