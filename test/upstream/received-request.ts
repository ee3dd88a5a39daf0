/** Milliseconds since 1970 with fractions; comparable between processes of one machine. */
export const now = (): number => performance.timeOrigin + performance.now()

/**
 * One line of the upstream's own ledger: what it received and what it gave for it, written by the upstream alone, so
 * that the gateway's money can be checked against it. Times as in `now`; `null` is not yet, or never.
 */
export type ReceivedRequest = {
  readonly id: string
  readonly arrivedAt: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly authorization: string | undefined
  /** Parsed; the text where it is no JSON. */
  readonly body: unknown
  readonly model: string | undefined
  readonly stream: boolean
  /** The maximum that the request named under either name. */
  readonly maxTokens: number | null
  promptTokens: number
  status: number | null
  headAt: number | null
  firstTokenAt: number | null
  /** Output tokens handed to the socket: nobody can have received more. */
  tokensProduced: number
  /** Output tokens that the kernel took: what surely went out. */
  tokensSent: number
  /** As sent to the client, lies included. */
  usage: Record<string, unknown> | null
  /** The peer went away before the answer was over. */
  peerClosedAt: number | null
  /** The upstream itself broke the answer off, as its script said. */
  faultAt: number | null
  /** The answer went out to its last byte. One that was broken off never did. */
  completedAt: number | null
}

type Head = Pick<ReceivedRequest, 'id' | 'method' | 'path' | 'headers' | 'body'>

export const receivedRequest = (head: Head): ReceivedRequest => {
  const body: Record<string, unknown> =
    typeof head.body === 'object' && head.body !== null ? { ...head.body } : {}
  const maximum = body.max_completion_tokens ?? body.max_tokens
  const { authorization } = head.headers
  return {
    ...head,
    arrivedAt: now(),
    authorization: typeof authorization === 'string' ? authorization : undefined,
    model: typeof body.model === 'string' ? body.model : undefined,
    stream: body.stream === true,
    maxTokens: typeof maximum === 'number' ? maximum : null,
    promptTokens: 0,
    status: null,
    headAt: null,
    firstTokenAt: null,
    tokensProduced: 0,
    tokensSent: 0,
    usage: null,
    peerClosedAt: null,
    faultAt: null,
    completedAt: null,
  }
}
