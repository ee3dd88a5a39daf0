/**
 * A conversation as Anthropic's turns: leading system messages apart, user and assistant in turn, the results of tools
 * first in the user turn after the call.
 * Source: https://platform.claude.com/docs/en/api/messages (2026-11).
 */
import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'
import { fieldsOf, isFields, textOf } from '../wire/fields.ts'
import { type Block, renderContent, withCacheControl } from './anthropic-messages-content.ts'
import { thinkingBlocks } from './claude-thinking.ts'
import { unsupported } from './failure.ts'
import { toolInput } from './function-tools.ts'

type Message = ChatRequest['messages'][number]
type ToolCall = NonNullable<Message['tool_calls']>[number]

export type Turn = { role: 'user' | 'assistant'; content: Block[] }
export type Conversation = { system: Block[]; turns: Turn[] }

const isInstruction = ({ role }: Message): boolean => role === 'system' || role === 'developer'

/** Ids of other providers' calls may hold what the API refuses; call and result change alike. */
const toolUseId = (id: unknown): string => textOf(id).replace(/[^a-zA-Z0-9_-]/g, '_')

const lastTurn = (turns: Turn[], role: Turn['role']): Turn => {
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn: Turn = { role, content: [] }
  turns.push(turn)
  return turn
}

const toolUse = (call: ToolCall, param: string): Block => {
  if (call.function === undefined)
    throw unsupported(param, 'The provider takes only calls of functions.')
  const input = toolInput(call.function.arguments, `${param}.function.arguments`)
  const block = { type: 'tool_use', id: toolUseId(call.id), name: call.function.name, input }
  return withCacheControl(block, call)
}

const renderAssistant = (message: Message, at: number, into: Block[]): void => {
  if (isFields(message.function_call))
    throw unsupported(`messages[${at}].function_call`, 'Use `tool_calls`; functions are outdated.')
  into.push(...thinkingBlocks(message.reasoning_details))
  renderContent(message.content, at, into, true)
  if (!message.content && typeof message.refusal === 'string')
    renderContent(message.refusal, at, into, true)
  for (const [i, call] of (message.tool_calls ?? []).entries())
    into.push(toolUse(call, `messages[${at}].tool_calls[${i}]`))
}

/** All results of one turn stand together before any text, or the API refuses the turn. */
const insertToolResult = (message: Message, at: number, into: Block[]): void => {
  const id = toolUseId(message.tool_call_id)
  if (id === '')
    throw new GatewayError('invalid_request', `messages[${at}].tool_call_id is missing.`, {
      param: `messages[${at}].tool_call_id`,
    })
  const content: Block[] = []
  renderContent(message.content, at, content, false)
  const result: Block = { type: 'tool_result', tool_use_id: id }
  if (content.length > 0) result.content = content
  let place = 0
  while (into[place]?.type === 'tool_result') place++
  into.splice(place, 0, withCacheControl(result, message))
}

/** An instruction amid the conversation: the API has no such role on most models, so the user's turn tells it. */
const foldInstruction = (message: Message, at: number, into: Block[]): void => {
  const blocks: Block[] = []
  renderContent(message.content, at, blocks, true)
  for (const block of blocks) into.push({ ...block, text: `<system>\n${block.text}\n</system>` })
}

/** A mark on the message itself is meant for all of it, so it goes to its last block. */
const markLast = (message: Message, content: Block[], before: number): void => {
  const last = content.at(-1)
  if (last && content.length > before) withCacheControl(last, fieldsOf(message))
}

const renderMessage = (message: Message, at: number, turns: Turn[]): void => {
  const { content } = lastTurn(turns, message.role === 'assistant' ? 'assistant' : 'user')
  const before = content.length
  switch (message.role) {
    case 'assistant':
      renderAssistant(message, at, content)
      break
    case 'tool':
      insertToolResult(message, at, content)
      return
    case 'user':
      renderContent(message.content, at, content, false)
      break
    case 'function':
      throw unsupported(`messages[${at}].role`, 'Use the role `tool`; functions are outdated.')
    default:
      foldInstruction(message, at, content)
  }
  markLast(message, content, before)
}

/** The API refuses an answer to go on with that ends in white space. */
const trimEnd = ({ content }: Turn): void => {
  const last = content.at(-1)
  if (typeof last?.text === 'string') last.text = last.text.trimEnd()
}

const merged = (turns: readonly Turn[]): Turn[] => {
  const kept: Turn[] = []
  for (const { role, content } of turns)
    if (content.length > 0) lastTurn(kept, role).content.push(...content)
  return kept
}

/** Raises `unsupported_parameter` and `invalid_request`, with the path of what is wrong. */
export const renderConversation = (messages: readonly Message[]): Conversation => {
  const system: Block[] = []
  const rendered: Turn[] = []
  let leading = true
  for (const [i, message] of messages.entries()) {
    leading &&= isInstruction(message)
    if (!leading) renderMessage(message, i, rendered)
    else {
      const before = system.length
      renderContent(message.content, i, system, true)
      markLast(message, system, before)
    }
  }
  const turns = merged(rendered)
  const last = turns.at(-1)
  // A conversation starts with the user; without one, the instructions are what is asked.
  if (last === undefined) return { system: [], turns: [{ role: 'user', content: system }] }
  if (last.role === 'assistant') trimEnd(last)
  if (turns[0]?.role === 'assistant')
    turns.unshift({ role: 'user', content: [{ type: 'text', text: '(continued)' }] })
  return { system, turns }
}
