import type { Worker } from 'node:worker_threads'
import { startThread } from '../thread.ts'

/**
 * Counts tokens of text where an upstream reported none. The tokeniser (o200k; others differ by some per cent, which is
 * why such a charge is marked `estimated`) takes 70 MB and 0.2 s to load and is quadratic on unbroken runs, so it lives
 * in a thread that starts with the first question, and text reaches it in slices.
 */
export class TokenCounter {
  #thread: Worker | null = null
  #nextId = 1
  readonly #waiting = new Map<number, (tokens: number) => void>()

  /** Starts the thread, for who knows that there will be something to count. */
  prepare(): Worker {
    this.#thread ??= this.#start()
    return this.#thread
  }

  /** Never rejects: if the thread is lost, bytes stand in for tokens (4 to a token, as English has them). */
  count(text: string): Promise<number> {
    if (text === '') return Promise.resolve(0)
    const thread = this.prepare()
    const id = this.#nextId++
    return new Promise(resolve => {
      const giveUp = setTimeout(
        () => answer(Math.ceil(Buffer.byteLength(text) / 4)),
        countTimeoutMs,
      )
      const answer = (tokens: number) => {
        clearTimeout(giveUp)
        this.#waiting.delete(id)
        resolve(tokens)
      }
      this.#waiting.set(id, answer)
      thread.postMessage({ id, text })
    })
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const thread = startThread(new URL('./token-counter-thread.ts', import.meta.url), {
      name: 'token-counter',
    })
    // Counting must not keep a process alive that is done with everything else.
    thread.unref()
    thread.on('message', ({ id, tokens }: { id: number; tokens: number }) =>
      this.#waiting.get(id)?.(tokens),
    )
    thread.on('error', () => {
      this.#thread = null
    })
    return thread
  }
}

const countTimeoutMs = 10_000
