/**
 * A conversation as Converse's turns: leading system messages apart, user and assistant in turn, the results of tools
 * first in the user turn after the call.
 * Source: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html (2026-11).
 */
import { crc32 } from 'node:zlib'
import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, isFields, textOf } from '../wire/fields.ts'
import {
  type Block,
  isBlank,
  markCache,
  type Rendering,
  renderContent,
} from './bedrock-converse-content.ts'
import type { ModelTraits } from './bedrock-converse-models.ts'
import { reasoningBlocks } from './bedrock-converse-reasoning.ts'
import { unsupported } from './failure.ts'
import { toolInput } from './function-tools.ts'

type Message = ChatRequest['messages'][number]
type ToolCall = NonNullable<Message['tool_calls']>[number]

export type Turn = { role: 'user' | 'assistant'; content: Block[] }
export type Conversation = { system: Block[]; turns: Turn[] }

type Writing = Rendering & { readonly traits: ModelTraits; readonly turns: Turn[] }

const isInstruction = ({ role }: Message): boolean => role === 'system' || role === 'developer'

const maxIdLength = 64

/** Ids of other providers' calls may be longer or hold what the API refuses; call and result change alike. */
const toolUseId = (id: unknown, { claude }: ModelTraits): string => {
  const text = textOf(id)
  const plain = text.replace(claude === null ? /[^\w.:-]/g : /[^\w-]/g, '_')
  return plain.length <= maxIdLength
    ? plain
    : `${plain.slice(0, maxIdLength - 9)}_${crc32(text).toString(16).padStart(8, '0')}`
}

const lastTurn = (turns: Turn[], role: Turn['role']): Turn => {
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn: Turn = { role, content: [] }
  turns.push(turn)
  return turn
}

const toolUse = (call: ToolCall, param: string, traits: ModelTraits): Block => {
  if (call.function === undefined)
    throw unsupported(param, 'The provider takes only calls of functions.')
  const input = toolInput(call.function.arguments, `${param}.function.arguments`)
  const { name } = call.function
  return { toolUse: { toolUseId: toolUseId(call.id, traits), name, input } }
}

const renderAssistant = (message: Message, at: number, into: Block[], writing: Writing): void => {
  if (isFields(message.function_call))
    throw unsupported(`messages[${at}].function_call`, 'Use `tool_calls`; functions are outdated.')
  if (writing.traits.reasoning === 'claude')
    into.push(...reasoningBlocks(message.reasoning_details))
  renderContent(message.content, at, into, writing, true)
  if (!message.content && typeof message.refusal === 'string')
    renderContent(message.refusal, at, into, writing, true)
  for (const [i, call] of (message.tool_calls ?? []).entries()) {
    into.push(toolUse(call, `messages[${at}].tool_calls[${i}]`, writing.traits))
    markCache(call, into, writing)
  }
}

const isResult = (block: Block | undefined): boolean =>
  block?.toolResult !== undefined || block?.cachePoint !== undefined

/** Blocks inside a result take no mark, so what is marked there is marked behind it. */
const markOf = (message: Message): Fields => {
  const parts = Array.isArray(message.content) ? message.content : []
  return parts.find(part => part.cache_control) ?? fieldsOf(message)
}

/** All results of one turn stand together before any text, or models refuse the turn. */
const insertToolResult = (message: Message, at: number, into: Block[], writing: Writing): void => {
  const id = toolUseId(message.tool_call_id, writing.traits)
  if (id === '')
    throw new GatewayError('invalid_request', `messages[${at}].tool_call_id is missing.`, {
      param: `messages[${at}].tool_call_id`,
    })
  const content: Block[] = []
  renderContent(message.content, at, content, { ...writing, marksCache: false }, false)
  const inserted: Block[] = [{ toolResult: { toolUseId: id, content } }]
  markCache(markOf(message), inserted, writing)
  let place = 0
  while (isResult(into[place])) place++
  into.splice(place, 0, ...inserted)
}

/** An instruction amid the conversation: the API has no such role, so the user's turn tells it. */
const foldInstruction = (message: Message, at: number, into: Block[], writing: Writing): void => {
  const blocks: Block[] = []
  renderContent(message.content, at, blocks, writing, true)
  for (const block of blocks)
    into.push(
      block.text === undefined ? block : { text: `<system>\n${String(block.text)}\n</system>` },
    )
}

const renderMessage = (message: Message, at: number, writing: Writing): void => {
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  const { content } = lastTurn(writing.turns, role)
  switch (message.role) {
    case 'assistant':
      renderAssistant(message, at, content, writing)
      break
    case 'tool':
      insertToolResult(message, at, content, writing)
      return
    case 'user':
      renderContent(message.content, at, content, writing, false)
      break
    case 'function':
      throw unsupported(`messages[${at}].role`, 'Use the role `tool`; functions are outdated.')
    default:
      foldInstruction(message, at, content, writing)
  }
  if (content.length > 0) markCache(fieldsOf(message), content, writing)
}

/** The API takes documents only in company of a text. */
const accompany = ({ content }: Turn): void => {
  const speaks = content.some(({ text }) => typeof text === 'string' && !isBlank(text))
  if (!speaks && content.some(block => block.document))
    content.unshift({ text: 'The document is attached.' })
}

/** Models refuse an answer to go on with that ends in white space. */
const trimEnd = ({ content }: Turn): void => {
  const last = content.at(-1)
  if (typeof last?.text === 'string' && !isBlank(last.text))
    content[content.length - 1] = { text: last.text.trimEnd() }
}

const merged = (turns: readonly Turn[]): Turn[] => {
  const kept: Turn[] = []
  for (const { role, content } of turns)
    if (content.length > 0) lastTurn(kept, role).content.push(...content)
  return kept
}

/** Raises `unsupported_parameter` and `invalid_request`, with the path of what is wrong. */
export const renderConversation = (chat: ChatRequest, traits: ModelTraits): Conversation => {
  const system: Block[] = []
  const marksCache = traits.cachePoints !== 'none'
  const writing: Writing = { documentNames: new Set(), marksCache, traits, turns: [] }
  let leading = true
  for (const [i, message] of chat.messages.entries()) {
    leading &&= isInstruction(message)
    if (!leading) renderMessage(message, i, writing)
    else {
      renderContent(message.content, i, system, writing, true)
      if (system.length > 0) markCache(fieldsOf(message), system, writing)
    }
  }
  const turns = merged(writing.turns)
  const last = turns.at(-1)
  // A conversation starts with the user; without one, the instructions are what is asked.
  if (last === undefined) return { system: [], turns: [{ role: 'user', content: system }] }
  if (last.role === 'assistant') trimEnd(last)
  else markCache(chat, last.content, writing)
  for (const turn of turns) accompany(turn)
  if (turns[0]?.role === 'assistant')
    turns.unshift({ role: 'user', content: [{ text: '(continued)' }] })
  return { system, turns }
}
