/**
 * A conversation as Gemini's contents: leading system messages apart, then turns of user and model, what belongs to one
 * turn in one content, the results of calls named after their functions.
 * Source: https://ai.google.dev/api/caching#Content and …/docs/function-calling (2026-11).
 */
import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'
import { isFields, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'
import { toolInput } from './function-tools.ts'
import type { GeminiTraits } from './gemini-models.ts'
import { type Part, renderContent } from './gemini-parts.ts'
import {
  callSignature,
  foreignSignature,
  readSignatures,
  type Signatures,
} from './gemini-thinking.ts'

type Message = ChatRequest['messages'][number]

export type Turn = { role: 'user' | 'model'; parts: Part[] }
export type Conversation = { system: Part[]; contents: Turn[] }

const isInstruction = ({ role }: Message): boolean => role === 'system' || role === 'developer'

/** Renders message by message; remembers which call has which name, since a result needs it. */
class Turns {
  readonly #traits: GeminiTraits
  readonly #names = new Map<string, string>()
  readonly contents: Turn[] = []

  constructor(traits: GeminiTraits) {
    this.#traits = traits
  }

  add(message: Message, at: number): void {
    switch (message.role) {
      case 'assistant':
        this.#push('model', this.#modelParts(message, at))
        break
      case 'tool':
        this.#addResult(message, at)
        break
      case 'user':
        this.#push('user', renderContent(message.content, at, false))
        break
      case 'function':
        throw unsupported(`messages[${at}].role`, 'Use the role `tool`; functions are outdated.')
      default:
        // An instruction amid the conversation: there is no such role, so the user's turn tells it.
        for (const part of renderContent(message.content, at, true))
          this.#push('user', [{ text: `<system>\n${textOf(part.text)}\n</system>` }])
    }
  }

  #push(role: Turn['role'], parts: Part[]): void {
    if (parts.length === 0) return
    const last = this.contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else this.contents.push({ role, parts })
  }

  #modelParts(message: Message, at: number): Part[] {
    if (isFields(message.function_call))
      throw unsupported(
        `messages[${at}].function_call`,
        'Use `tool_calls`; functions are outdated.',
      )
    const signatures = readSignatures(message)
    const texts = renderContent(message.content, at, false)
    if (texts.length === 0 && textOf(message.refusal) !== '') texts.push({ text: message.refusal })
    return [
      ...signatures.thoughts,
      ...withSignatures(texts, signatures),
      ...this.#calls(message, at, signatures),
    ]
  }

  #calls(message: Message, at: number, signatures: Signatures): Part[] {
    return (message.tool_calls ?? []).map((call, i) => {
      const param = `messages[${at}].tool_calls[${i}]`
      if (call.function === undefined)
        throw unsupported(param, 'The provider takes only calls of functions.')
      const { name, arguments: input } = call.function
      const id = textOf(call.id)
      const functionCall: Part = { name, args: toolInput(input, `${param}.function.arguments`) }
      if (id !== '') {
        functionCall.id = id
        this.#names.set(id, name)
      }
      // Of calls made at once the first alone is signed.
      const signature =
        callSignature(call, signatures) ||
        (i === 0 && this.#traits.isSigned ? foreignSignature : '')
      return signature === '' ? { functionCall } : { functionCall, thoughtSignature: signature }
    })
  }

  /** All results of one turn stand together, before what the user says. */
  #addResult(message: Message, at: number): void {
    const id = textOf(message.tool_call_id)
    const name = this.#names.get(id) ?? textOf(message.name)
    if (name === '') {
      const param = `messages[${at}].tool_call_id`
      throw new GatewayError('invalid_request', `${param} names no call of an earlier message.`, {
        param,
      })
    }
    const parts = renderContent(message.content, at, false)
    const media = parts.filter(({ text }) => text === undefined)
    const text = parts.map(part => textOf(part.text)).join('')
    const functionResponse: Part = { name, response: toResponse(text) }
    if (id !== '') functionResponse.id = id
    // Before Gemini 3 a result is data alone; images stand beside it.
    const inside = media.filter(({ inlineData }) => this.#traits.isSigned && inlineData)
    if (inside.length > 0) functionResponse.parts = inside
    const result = { functionResponse }
    const last = this.contents.at(-1)
    if (last?.role !== 'user') this.#push('user', [result])
    else last.parts.splice(last.parts.findLastIndex(isResult) + 1, 0, result)
    this.#push(
      'user',
      media.filter(part => !inside.includes(part)),
    )
  }
}

const isResult = (part: Part): boolean => part.functionResponse !== undefined

/** The API wants an object: a result that is one stays what it is, any other is its `output`. */
const toResponse = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return { output: text }
  try {
    const result: unknown = JSON.parse(text)
    return isFields(result) ? result : { output: result }
  } catch {
    return { output: text }
  }
}

/** The last signature belongs to the end of the text; a part of its own carries any other. */
const withSignatures = (texts: Part[], { unnamed }: Signatures): Part[] => {
  const own = unnamed.map((thoughtSignature): Part => ({ text: '', thoughtSignature }))
  const last = texts.at(-1)
  const final = own.at(-1)
  if (last?.text === undefined || final === undefined) return [...texts, ...own]
  return [...texts.slice(0, -1), ...own.slice(0, -1), { ...last, ...final, text: last.text }]
}

/** Raises `unsupported_parameter` and `invalid_request`, with the path of what is wrong. */
export const renderConversation = (
  messages: readonly Message[],
  traits: GeminiTraits,
): Conversation => {
  const system: Part[] = []
  const turns = new Turns(traits)
  let leading = true
  for (const [i, message] of messages.entries()) {
    leading &&= isInstruction(message)
    if (leading) system.push(...renderContent(message.content, i, true))
    else turns.add(message, i)
  }
  const { contents } = turns
  // Without a user, the instructions are what is asked.
  if (contents.length === 0) return { system: [], contents: [{ role: 'user', parts: system }] }
  if (traits.takesInstructions || system.length === 0) return { system, contents }
  const [first, ...rest] = contents
  if (first?.role !== 'user')
    return { system: [], contents: [{ role: 'user', parts: system }, ...contents] }
  return { system: [], contents: [{ role: 'user', parts: [...system, ...first.parts] }, ...rest] }
}
