import { chunkOf, type StreamEvent } from '../../src/dialects/dialect.ts'

/** An event in one form, whichever way it was read: a piece of text as the chunk that it is. */
export const inFull = (event: StreamEvent): StreamEvent => {
  const chunk = chunkOf(event)
  const { usage } = event
  return { ...(chunk ? { chunk } : {}), ...(usage ? { usage } : {}) }
}
