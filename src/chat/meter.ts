import type { AnswerMessage, ChatAnswer, ChatChunk, ChatRequest } from '../wire/chat.ts'
import { completionTokens, promptTokens, type Usage } from '../wire/usage.ts'
import type { TokenCounter } from './token-counter.ts'

export type MeteredUsage = { usage: Usage; estimated: boolean }

/**
 * Watches one answer go by and knows what it has used so far: what the upstream reported, else what can be counted of
 * what was passed on to the client.
 */
export class Meter {
  readonly #counter: TokenCounter
  #reported: Usage | null = null
  #running: Usage | null = null
  /** Delivered text not yet counted, by choice: the words of two choices must not run into each other. */
  #uncounted: string[] = []
  #uncountedLength = 0
  #counted = 0
  #inputTokens: number | null = null
  #delivered = false
  #counting: Promise<unknown> = Promise.resolve()

  constructor(counter: TokenCounter) {
    this.#counter = counter
  }

  /** Anything of the answer itself has gone to the client. */
  get delivered(): boolean {
    return this.#delivered
  }

  get reported(): Usage | null {
    return this.#reported
  }

  /** Reported while the answer is under way: all of its input, not all of its output. */
  get running(): Usage | null {
    return this.#running
  }

  /** Output so far, cheaply: exact up to the last `count`, a third of the characters since. */
  get roughOutputTokens(): number {
    return this.#counted + Math.ceil(this.#uncountedLength / 3)
  }

  /** Output as last reported, else as last counted: behind what was delivered, never ahead of it. */
  get exactOutputTokens(): number {
    return this.#reported ? completionTokens(this.#reported) : this.#counted
  }

  get uncountedRoughTokens(): number {
    return Math.ceil(this.#uncountedLength / 3)
  }

  report(usage: Usage, isRunning = false): void {
    if (isRunning) this.#running = usage
    else this.#reported = usage
  }

  /** Text of a choice that is about to go to the client. */
  observeText(choice: number, text: string): void {
    this.#add(choice, text)
  }

  /** A chunk that is about to go to the client. */
  observe(chunk: ChatChunk): void {
    for (const { index, delta } of chunk.choices) {
      if (delta.content) this.#add(index, delta.content)
      if (delta.reasoning) this.#add(index, delta.reasoning)
      if (delta.refusal) this.#add(index, delta.refusal)
      if (delta.tool_calls) {
        for (const call of delta.tool_calls) {
          if (call.function?.name) this.#add(index, call.function.name)
          if (call.function?.arguments) this.#add(index, call.function.arguments)
        }
      }
    }
  }

  /** A whole answer for which the upstream reported no usage, or none of any token. */
  observeAnswer(answer: ChatAnswer): void {
    for (const { index, message } of answer.choices) this.#add(index, textOf(message))
  }

  /**
   * Usage so far. `estimated` unless the upstream reported it. Counting happens in another thread, so what is delivered
   * meanwhile belongs to the next count; counts queue up, since a settle must not overtake a checkpoint's. A report of
   * no token at all for an answer that has words is what servers send that don't count: it is none.
   */
  usage(chat: ChatRequest): Promise<MeteredUsage> {
    if (this.#reported && !this.#miscounted)
      return Promise.resolve({ usage: this.#reported, estimated: false })
    const counted = this.#counting.then(() => this.#count(chat))
    this.#counting = counted
    return counted
  }

  async #count(chat: ChatRequest): Promise<MeteredUsage> {
    if (this.#reported && !this.#miscounted) return { usage: this.#reported, estimated: false }
    const texts = this.#uncounted
    const length = this.#uncountedLength
    this.#uncounted = []
    if (this.#running === null) this.#inputTokens ??= await this.#counter.count(promptText(chat))
    let counted = 0
    for (const text of texts) if (text) counted += await this.#counter.count(text)
    this.#counted += counted
    this.#uncountedLength -= length
    return { usage: this.#estimate(), estimated: true }
  }

  get #miscounted(): boolean {
    const hasWords = this.#counted + this.#uncountedLength > 0
    return hasWords && this.#reported !== null && countsNothing(this.#reported)
  }

  /** The upstream knows its own input; of its output it may have told less than it has delivered. */
  #estimate(): Usage {
    if (this.#running === null) {
      const tokens = { input: this.#inputTokens ?? 0, output: this.#counted }
      return this.#reported ? { ...this.#reported, tokens } : { tokens }
    }
    const { tokens } = this.#running
    const output = Math.max(tokens.output ?? 0, this.#counted)
    return { ...this.#running, tokens: { ...tokens, output } }
  }

  #add(choice: number, text: string): void {
    this.#uncounted[choice] = (this.#uncounted[choice] ?? '') + text
    this.#uncountedLength += text.length
    this.#delivered = true
  }
}

/** No token of an answer, nor of its prompt. */
export const countsNothing = (usage: Usage): boolean =>
  promptTokens(usage) + completionTokens(usage) === 0

const textOf = (message: AnswerMessage): string => {
  const calls = message.tool_calls ?? []
  const written = calls.map(call => call.function.name + call.function.arguments)
  return [message.content, message.reasoning, message.refusal, ...written]
    .filter(Boolean)
    .join('\n')
}

/** All text that the model was given to read. */
const promptText = (chat: ChatRequest): string => {
  const texts: string[] = []
  for (const { content, tool_calls } of chat.messages) {
    if (typeof content === 'string') texts.push(content)
    else for (const part of content ?? []) if (typeof part.text === 'string') texts.push(part.text)
    for (const call of tool_calls ?? [])
      texts.push(call.function?.name ?? '', call.function?.arguments ?? '')
  }
  if (chat.tools) texts.push(JSON.stringify(chat.tools))
  return texts.join('\n')
}
