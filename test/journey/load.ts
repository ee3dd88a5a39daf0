/** Requests of all kinds at a steady rate, each by its own name, so that both ledgers can be asked about it. */
import { Agent } from 'node:http'
import { SentChat } from '../chat-client.ts'
import { countedPrompt } from '../counted-prompt.ts'
import type { Seeded } from '../seeded.ts'
import type { ScriptInput } from '../upstream/scripted-upstream.ts'

export type Sent = {
  /** In the upstream's ledger; the title of its generation in the gateway's. */
  id: string
  streamed: boolean
  promptTokens: number
  chat: SentChat
}

type Kind = { share: number; streamed: boolean; script: (seeded: Seeded) => ScriptInput }

/** Short ones, some of a third of a second, and some that outlast their first checkpoint, by time or by tokens. */
const kinds: readonly Kind[] = [
  {
    share: 30,
    streamed: false,
    script: s => ({ chunks: s.between(1, 9), delayMs: s.between(0, 40) }),
  },
  { share: 25, streamed: true, script: s => ({ chunks: s.between(1, 9), gapMs: s.between(0, 6) }) },
  {
    share: 15,
    streamed: false,
    script: s => ({ chunks: s.between(1, 9), delayMs: s.between(200, 400) }),
  },
  {
    share: 15,
    streamed: true,
    script: s => ({ chunks: 12, gapMs: 25, delayMs: s.between(0, 50) }),
  },
  { share: 3, streamed: true, script: () => ({ chunks: 60, tokensPerChunk: 40, gapMs: 10 }) },
  { share: 12, streamed: true, script: s => ({ chunks: s.between(40, 100), gapMs: 40 }) },
]
const allShares = kinds.reduce((sum, { share }) => sum + share, 0)

export type LoadOptions = {
  url: string
  key: string
  model: string
  seeded: Seeded
  /** What the names of its requests begin with. */
  name: string
}

export class Load {
  readonly sent: Sent[] = []
  /** Not yet ended for their clients. */
  readonly open = new Set<Sent>()
  readonly #options: LoadOptions
  readonly #agent = new Agent({ keepAlive: true })
  #timer: NodeJS.Timeout | undefined

  constructor(options: LoadOptions) {
    this.#options = options
  }

  /** Open loop: what a slow gateway does not answer piles up, as it does in life. */
  start(perSecond: number): void {
    const startedMs = performance.now()
    let started = 0
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedMs) * perSecond) / 1_000)
      this.burst(due - started)
      started = due
    }, 5)
  }

  burst(count: number): void {
    for (let index = 0; index < count; index++) this.#send()
  }

  /** Sends no more, and waits for the end of what was sent: of all, once the gateway is dead. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.open].map(({ chat }) => chat.ended))
    this.#agent.destroy()
  }

  #send(): void {
    const { url, key, model, seeded, name } = this.#options
    const { streamed, script } = this.#kind()
    const id = `${name}-${this.sent.length + 1}`
    const { content, promptTokens } = countedPrompt({ id, ...script(seeded) })
    const chat = new SentChat({
      url,
      key,
      agent: this.#agent,
      headers: { 'x-title': id },
      body: { model, stream: streamed, messages: [{ role: 'user', content }] },
    })
    const sent = { id, streamed, promptTokens, chat }
    this.sent.push(sent)
    this.open.add(sent)
    void chat.ended.then(() => this.open.delete(sent))
  }

  #kind(): Kind {
    let at = this.#options.seeded.between(1, allShares)
    for (const kind of kinds) {
      at -= kind.share
      if (at <= 0) return kind
    }
    throw new Error('The shares do not add up.')
  }
}
