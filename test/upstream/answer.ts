/** How a scripted upstream speaks OpenAI's chat completions, whole and streamed, with the faults of a `Script`. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { now, type ReceivedRequest } from './received-request.ts'
import type { Script } from './script.ts'
import { words } from './vocabulary.ts'

export type Exchange = {
  readonly received: ReceivedRequest
  readonly response: ServerResponse
  readonly script: Script
  /** Aborted when the peer goes away, and when the upstream is closed. */
  readonly gone: AbortSignal
}

/** Resolves when nothing more will be sent; rejects with `AbortError` when the peer went away. */
export const answerScripted = async (exchange: Exchange): Promise<void> => {
  const { script, gone } = exchange
  if (script.delayMs > 0) await sleep(script.delayMs, undefined, { signal: gone })
  if (script.hangBeforeHead) return
  if (script.dieBeforeHead) return breakOff(exchange, 'cut')
  if (script.body !== undefined) return whole(exchange, script.body)
  if (script.status >= 300) return whole(exchange, refusal(script.status))
  if (exchange.received.stream) return await stream(exchange)
  return await wholeAnswer(exchange)
}

/** Ends without a last byte: by a cut socket, or by a clean end of a body that is not all there. */
const breakOff = ({ received, response }: Exchange, how: 'cut' | 'end', text = ''): void => {
  received.faultAt = now()
  if (how === 'cut') response.socket?.destroy()
  else response.end(text)
}

const finish = ({ received, response }: Exchange, text: string, tokens = 0): void => {
  response.end(text, () => {
    if (response.destroyed && !response.writableFinished) return
    received.tokensSent += tokens
    received.completedAt = now()
  })
}

const refusal = (status: number): string =>
  JSON.stringify({
    error: { message: `scripted ${status}`, type: 'scripted_error', param: null, code: 'scripted' },
  })

const writeHead = ({ response, received, script }: Exchange, contentType: string): void => {
  received.status = script.status
  received.headAt = now()
  response.writeHead(script.status, { 'content-type': contentType, ...script.headers })
  response.flushHeaders()
}

const whole = (exchange: Exchange, body: string): void => {
  writeHead(exchange, 'application/json')
  finish(exchange, body)
}

const wholeAnswer = async (exchange: Exchange): Promise<void> => {
  const { script, response, received, gone } = exchange
  const tokens = tokensToProduce(exchange)
  const message = script.toolCall
    ? {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: script.toolCall }],
      }
    : { role: 'assistant', content: words(0, tokens), refusal: null }
  const body = JSON.stringify({
    ...stamp(received, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(exchange, tokens) }],
    ...(script.noUsage ? {} : { usage: usage(exchange, tokens) }),
  })
  writeHead(exchange, 'application/json')
  if (script.silentMs > 0) await sleep(script.silentMs, undefined, { signal: gone })
  if (script.garbage) return finish(exchange, 'this is no JSON {')
  const faulty = [script.hangAfter, script.dieAfter, script.endAfter].some(
    after => after !== undefined,
  )
  if (!faulty) {
    produced(received, tokens)
    return finish(exchange, body, tokens)
  }
  await write(response, body.slice(0, body.length / 2))
  if (script.dieAfter !== undefined) breakOff(exchange, 'cut')
  if (script.endAfter !== undefined) breakOff(exchange, 'end')
}

const garbageEvent = 'data: {"choices": [\n\n'

const stream = async (exchange: Exchange): Promise<void> => {
  const { script, response, gone } = exchange
  writeHead(exchange, 'text/event-stream; charset=utf-8')
  if (script.silentMs > 0) await sleep(script.silentMs, undefined, { signal: gone })
  const tokens = tokensToProduce(exchange)
  for (let index = 0; ; index++) {
    if (index === script.hangAfter) return
    if (index === script.dieAfter) return breakOff(exchange, 'cut')
    if (index === script.endAfter) return breakOff(exchange, 'end')
    if (index === script.errorAfter) return breakOff(exchange, 'end', `data: ${refusal(500)}\n\n`)
    if (script.garbage && index === script.garbageAfter) await write(response, garbageEvent)
    if (index * script.tokensPerChunk >= tokens || index >= script.chunks) break
    if (index > 0 && script.gapMs > 0) await sleep(script.gapMs, undefined, { signal: gone })
    if (script.noise)
      await write(response, ': keep-alive\n\nevent: ping\ndata: {"type": "ping"}\n\n')
    await writeChunk(exchange, index, tokens)
  }
  const last = {
    index: 0,
    delta: {},
    logprobs: null,
    finish_reason: finishReason(exchange, tokens),
  }
  if (!script.noFinishReason) await writeEvent(exchange, { choices: [last] })
  if (reportsUsage(exchange))
    await writeEvent(exchange, { choices: [], usage: usage(exchange, tokens) })
  finish(exchange, script.noDone ? '' : 'data: [DONE]\n\n')
}

const writeChunk = async (exchange: Exchange, index: number, tokens: number): Promise<void> => {
  const { script, received } = exchange
  const from = index * script.tokensPerChunk
  const count = Math.min(script.tokensPerChunk, tokens - from)
  const delta = script.toolCall ? toolDelta(script, index) : { content: words(from, count) }
  const choice = {
    index: 0,
    delta: index === 0 ? { role: 'assistant', refusal: null, ...delta } : delta,
    logprobs: null,
    finish_reason: null,
  }
  produced(received, count)
  const running = script.usageInChunks ? { usage: usage(exchange, received.tokensProduced) } : {}
  await writeEvent(exchange, { choices: [choice], ...running })
  received.tokensSent += count
}

const toolDelta = ({ toolCall, chunks }: Script, index: number): Record<string, unknown> => {
  const text = toolCall?.arguments ?? ''
  const size = Math.ceil(text.length / Math.max(1, chunks))
  const piece = text.slice(index * size, (index + 1) * size)
  const named = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: toolCall?.name, arguments: piece },
  }
  return { tool_calls: [index === 0 ? named : { index: 0, function: { arguments: piece } }] }
}

const writeEvent = async (exchange: Exchange, event: Record<string, unknown>): Promise<void> => {
  const text = `data: ${JSON.stringify({ ...stamp(exchange.received, 'chat.completion.chunk'), ...event })}\n\n`
  const size = exchange.script.cutBytes
  if (size === undefined) return await write(exchange.response, text)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size)
    await write(exchange.response, bytes.subarray(at, at + size))
}

/** Resolves when the kernel has taken the bytes, so a slow reader holds the upstream back. */
const write = (response: ServerResponse, data: string | Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    response.write(data, error => (error ? reject(error) : resolve()))
  })

const tokensToProduce = ({ script, received }: Exchange): number => {
  const wanted = script.chunks * script.tokensPerChunk
  return script.ignoreMaximum ? wanted : Math.min(wanted, received.maxTokens ?? wanted)
}

const finishReason = ({ script }: Exchange, tokens: number): string => {
  if (tokens < script.chunks * script.tokensPerChunk) return 'length'
  return script.toolCall ? 'tool_calls' : script.finishReason
}

const reportsUsage = ({ script, received }: Exchange): boolean => {
  if (script.noUsage) return false
  const body = received.body as { stream_options?: { include_usage?: unknown } | null }
  return script.usageUnasked || body.stream_options?.include_usage === true
}

const usage = ({ script, received }: Exchange, completion: number): Record<string, unknown> => {
  received.usage = {
    prompt_tokens: script.promptTokens,
    completion_tokens: completion,
    total_tokens: script.promptTokens + completion,
    ...script.usage,
  }
  return received.usage
}

const stamp = ({ id, model }: ReceivedRequest, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created: 1_700_000_000,
  model: model ?? 'scripted',
})

const produced = (received: ReceivedRequest, tokens: number): void => {
  received.firstTokenAt ??= now()
  received.tokensProduced += tokens
}
