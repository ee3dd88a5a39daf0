/** A client over a real socket that notes exactly what it saw, and can leave at any moment. */
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { now } from './upstream/received-request.ts'

export type ChatToSend = {
  /** Of the gateway, without `/v1`. */
  url: string
  key: string
  agent: Agent
  body: { stream?: boolean; [field: string]: unknown }
  headers?: Record<string, string>
}

const streamEnd = 'data: [DONE]\n\n'

/** One chat completion as its client sees it. Times as in `now`. */
export class SentChat {
  readonly sentAt = now()
  readonly ended: Promise<void>
  status: number | null = null
  headers: IncomingHttpHeaders = {}
  /** What came of the body. */
  text = ''
  /** The answer was seen to its end: all of a body, the `[DONE]` of a stream. */
  complete = false
  endedAt: number | null = null
  leftAt: number | null = null
  readonly #streamed: boolean
  readonly #leave: () => void

  constructor({ url, key, agent, body, headers }: ChatToSend) {
    this.#streamed = body.stream === true
    const text = JSON.stringify(body)
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        ...headers,
      },
    })
    this.ended = new Promise(resolve => {
      sending.once('close', () => {
        this.endedAt = now()
        resolve()
      })
    })
    // A broken connection is one way to end; what was seen until then is what counts.
    sending.on('error', () => {})
    sending.once('response', response => this.#watch(response))
    sending.end(text)
    this.#leave = () => sending.destroy()
  }

  /** Cuts the connection; what still arrives is not seen. */
  leave(): void {
    if (this.endedAt !== null) return
    this.leftAt ??= now()
    this.#leave()
  }

  #watch(response: IncomingMessage): void {
    this.status = response.statusCode ?? null
    this.headers = response.headers
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      if (this.leftAt !== null) return
      this.text += part
      if (this.#streamed && this.text.endsWith(streamEnd)) this.complete = true
    })
    response.on('end', () => {
      if (!this.#streamed && this.leftAt === null && this.status === 200) this.complete = true
    })
    response.on('error', () => {})
  }

  /** The events of a stream that came whole, `[DONE]` as that word; a frame that broke off is none. */
  events(): unknown[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .filter(frame => frame.startsWith('data: '))
      .map(frame => frame.slice('data: '.length))
      .map(data => (data === '[DONE]' ? data : JSON.parse(data)))
  }

  /** The text of the answer, as far as it came. */
  answer(): string {
    if (!this.#streamed)
      return this.complete ? JSON.parse(this.text).choices[0].message.content : ''
    // `as`: what the gateway streams is checked elsewhere; here only the text is of interest.
    const events = this.events() as { choices?: { delta: { content?: string } }[] }[]
    return events.map(event => event.choices?.[0]?.delta.content ?? '').join('')
  }
}
