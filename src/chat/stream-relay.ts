import type { StreamEvent, StreamReader } from '../dialects/dialect.ts'
import type { BytesSink, UpstreamCall } from '../egress/upstream-call.ts'
import { GatewayError, toGatewayError } from '../errors.ts'
import type { ChatChunk } from '../wire/chat.ts'
import { type Client, stalledClientMs } from './client.ts'
import type { Generation } from './generation.ts'
import type { Trip } from './in-flight.ts'
import { hideReasoning } from './reasoning.ts'
import { usageBody } from './usage-body.ts'

export type StreamTimes = {
  /** A comment is sent after this much silence, so that proxies do not cut the line. */
  keepAliveMs: number
}

const checkpointEveryMs = 1_000
const checkpointEveryTokens = 1_000

/**
 * One streamed answer, upstream → client. Chunks leave as they come, with backpressure to the upstream; the last bytes
 * leave after the settle. Driven by the upstream's bytes and by the clock of `InFlight`.
 */
export class StreamRelay implements BytesSink, Trip {
  readonly #client: Client
  readonly #generation: Generation
  readonly #times: StreamTimes
  readonly #clock: () => number
  readonly #reader: StreamReader
  /** What is the same in every event of this stream, up to the chunk's own fields. */
  readonly #head: string
  readonly #hidesReasoning: boolean
  #call: UpstreamCall | null = null
  #interrupted: GatewayError | null = null
  #over: { resolve: () => void; reject: (error: GatewayError) => void } | null = null
  #lastWriteMs: number
  #lastCheckpointMs: number
  #pausedSinceMs: number | null = null
  #unread: Buffer[] = []

  constructor(client: Client, generation: Generation, times: StreamTimes, clock: () => number) {
    this.#client = client
    this.#generation = generation
    this.#times = times
    this.#clock = clock
    const { id, createdSeconds: created, model } = generation
    const { provider } = model.provider
    this.#reader = generation.dialect.readStream()
    const stamp = {
      id,
      object: 'chat.completion.chunk',
      created,
      model: model.id,
      provider: provider.id,
    }
    this.#head = `data: ${JSON.stringify(stamp).slice(0, -1)},`
    this.#hidesReasoning = generation.chat.reasoning?.exclude === true
    this.#lastWriteMs = clock()
    this.#lastCheckpointMs = this.#lastWriteMs
  }

  /** Resolves when the last byte is handed over. Raises what the upstream's failure was, and `ledger_unavailable`. */
  async run(call: UpstreamCall): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#over = { resolve, reject }
      call.pipeTo(this)
    })
    const settled = await this.#generation.settle({ error: null, onCommitFailure: 'keep' })
    // The client may read its balance the moment it sees [DONE], so the money moves first.
    await settled.settlement.committed
    await this.#end(`${this.#frame({ choices: [], usage: usageBody(settled) })}data: [DONE]\n\n`)
  }

  /** Before the first byte an ordinary HTTP error (rethrown); after it a chunk that tells, and no [DONE]. */
  async fail(error: GatewayError): Promise<void> {
    const { settlement } = await this.#generation.settle({
      error: error.code,
      onCommitFailure: 'keep',
    })
    if (!this.#client.started) throw error
    // A failed commit changes nothing for a client that is told of a failure anyway.
    await settlement.committed.catch(() => {})
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason: 'error' } as const
    await this.#end(this.#frame({ choices: [choice], ...error.toBody() }))
  }

  /**
   * One read of a socket may bring many HTTP chunks, each with a callback of its own. They are read together and leave
   * in one write at the end of this turn of the event loop; nothing waits for anything that isn't here yet.
   */
  onBytes(bytes: Buffer): void {
    if (this.#unread.push(bytes) === 1) process.nextTick(() => this.#read())
  }

  onEnd(): void {
    this.#read()
    if (!this.#over) return
    try {
      this.#pass(this.#reader.end())
      this.#complete()
    } catch (error) {
      this.#break(toGatewayError(error))
    }
  }

  onError(error: GatewayError): void {
    // What came before the failure is the client's, and decides how the failure is told.
    this.#read()
    this.#break(error)
  }

  tick(nowMs: number): void {
    const { timeouts } = this.#generation.model.provider
    if (this.#generation.elapsedMs > timeouts.totalMs) {
      this.interrupt(
        new GatewayError('provider_timeout', 'The answer took longer than this gateway waits.'),
      )
    } else if (this.#pausedSinceMs !== null) {
      if (nowMs - this.#pausedSinceMs > stalledClientMs) this.#client.cut()
    } else if (nowMs - this.#lastWriteMs >= this.#times.keepAliveMs) {
      this.#write(': tollgate\n\n')
    }
    if (nowMs - this.#lastCheckpointMs >= checkpointEveryMs) this.#checkpoint(nowMs)
  }

  follow(call: UpstreamCall): void {
    this.#call = call
    if (this.#interrupted) call.abort(this.#interrupted)
  }

  interrupt(error: GatewayError): void {
    this.#interrupted = error
    this.#call?.abort(error)
  }

  #read(): void {
    const [first, ...more] = this.#unread
    this.#unread = []
    if (!this.#over || first === undefined) return
    try {
      this.#pass(this.#reader.push(more.length === 0 ? first : Buffer.concat([first, ...more])))
    } catch (error) {
      this.#break(toGatewayError(error))
    }
  }

  #pass(events: StreamEvent[]): void {
    const { meter } = this.#generation
    let frames = ''
    for (const { chunk, text, usage, running } of events) {
      if (usage) meter.report(usage, running)
      if (text) {
        meter.observeText(text.choice, text.text)
        frames += `${this.#head}${text.json}\n\n`
      }
      if (!chunk) continue
      meter.observe(chunk)
      if (this.#hidesReasoning) for (const { delta } of chunk.choices) hideReasoning(delta)
      this.#noteFinish(chunk)
      frames += this.#frame(chunk)
    }
    if (frames !== '') this.#deliver(frames)
    if (this.#reader.done) this.#complete()
    else if (this.#reader.failure) this.#break(this.#reader.failure)
    else if (!this.#generation.canGoOn()) this.#exhaust()
    else if (meter.uncountedRoughTokens >= checkpointEveryTokens)
      this.#checkpoint(this.#lastWriteMs)
  }

  #deliver(frames: string): void {
    this.#generation.ttftMs ??= this.#generation.elapsedMs
    if (this.#write(frames) || this.#pausedSinceMs !== null) return
    this.#pausedSinceMs = this.#lastWriteMs
    this.#call?.pause()
    this.#client.onDrain(() => {
      this.#pausedSinceMs = null
      this.#call?.resume()
    })
  }

  #noteFinish({ choices }: ChatChunk): void {
    for (const { finish_reason, native_finish_reason } of choices) {
      if (!finish_reason) continue
      this.#generation.finishReason = finish_reason
      this.#generation.nativeFinishReason = native_finish_reason ?? null
    }
  }

  /** The balance pays for no more: what was produced is charged, and the answer ends as if cut at its maximum. */
  #exhaust(): void {
    const generation = this.#generation
    generation.finishReason = 'length'
    const choices = Array.from({ length: generation.chat.n ?? 1 }, (_, index) => ({
      index,
      delta: {},
      logprobs: null,
      finish_reason: 'length' as const,
      native_finish_reason: 'insufficient_credits',
    }))
    this.#deliver(this.#frame({ choices }))
    this.#complete()
    this.#call?.abort(new GatewayError('insufficient_credits', 'The balance is used up.'))
  }

  #checkpoint(nowMs: number): void {
    this.#lastCheckpointMs = nowMs
    if (this.#generation.meter.delivered) void this.#generation.checkpoint()
  }

  #complete(): void {
    this.#over?.resolve()
    this.#over = null
  }

  #break(error: GatewayError): void {
    this.#over?.reject(error)
    this.#over = null
    // What the upstream still sends after it broke the protocol is of no use to anybody.
    this.#call?.abort(error)
  }

  #frame(chunk: ChatChunk): string {
    return `${this.#head}${JSON.stringify(chunk).slice(1)}\n\n`
  }

  #write(text: string): boolean {
    this.#start()
    return this.#client.write(text)
  }

  #end(text: string): Promise<void> {
    this.#start()
    return this.#client.end(text)
  }

  #start(): void {
    this.#lastWriteMs = this.#clock()
    if (!this.#client.started)
      this.#client.start({ ...streamHeaders, ...this.#generation.headers() })
  }
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // nginx and its kin would otherwise gather chunks.
  'x-accel-buffering': 'no',
}
