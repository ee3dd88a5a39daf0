import { GatewayError } from '../errors.ts'
import type { UpstreamCall } from './upstream-call.ts'

/** What an upstream inside this process answers with. */
type Answer = { contentType: string; chunks: AsyncIterable<string> }

/** Drives `call` as undici would, from an upstream inside this process: same events, same abort, same backpressure. */
export const answerInProcess = async (
  answer: (body: string, signal: AbortSignal) => Answer,
  body: string,
  call: UpstreamCall,
): Promise<void> => {
  const aborted = new AbortController()
  let flowing = Promise.resolve()
  let flow = () => {}
  call.onRequestStart({
    abort: reason => aborted.abort(reason),
    pause: () => {
      flowing = new Promise(resolve => {
        flow = resolve
      })
    },
    resume: () => flow(),
  })
  try {
    const { contentType, chunks } = answer(body, aborted.signal)
    call.onResponseStart(null, 200, { 'content-type': contentType })
    for await (const chunk of chunks) {
      await flowing
      aborted.signal.throwIfAborted()
      call.onBytes(Buffer.from(chunk))
    }
    aborted.signal.throwIfAborted()
    call.onEnd()
  } catch (error) {
    const reason: unknown = aborted.signal.aborted ? aborted.signal.reason : error
    call.onError(
      reason instanceof GatewayError
        ? reason
        : new GatewayError('provider_error', 'The provider failed to answer.', { cause: reason }),
    )
  }
}
