import type { UpstreamCall } from '../egress/upstream-call.ts'
import { GatewayError } from '../errors.ts'
import type { ChatAnswer } from '../wire/chat.ts'
import type { Client } from './client.ts'
import type { Generation, Settled } from './generation.ts'
import type { Trip } from './in-flight.ts'
import { countsNothing } from './meter.ts'
import { hideReasoning } from './reasoning.ts'
import { usageBody } from './usage-body.ts'

/** Far above any whole answer of text; what is larger is not one. */
const answerLimitBytes = 64 * 1024 * 1024

/** One whole answer, upstream → client: settled first, then sent. */
export class WholeRelay implements Trip {
  readonly #client: Client
  readonly #generation: Generation
  #call: UpstreamCall | null = null
  #interrupted: GatewayError | null = null

  constructor(client: Client, generation: Generation) {
    this.#client = client
    this.#generation = generation
  }

  /** Resolves when the answer is out. Raises what the call and the dialect do, and `ledger_unavailable`. */
  async run(call: UpstreamCall): Promise<void> {
    const generation = this.#generation
    const body = await call.readWhole(answerLimitBytes)
    const { answer, usage } = generation.dialect.parseResponse(body)
    if (usage) generation.meter.report(usage)
    if (!usage || countsNothing(usage)) generation.meter.observeAnswer(answer)
    if (generation.chat.reasoning?.exclude) {
      for (const { message } of answer.choices) hideReasoning(message)
    }
    generation.finishReason = answer.choices[0]?.finish_reason ?? null
    generation.nativeFinishReason = answer.choices[0]?.native_finish_reason ?? null

    const settled = await generation.settle({ error: null, onCommitFailure: 'void' })
    // Whoever sees the answer has been charged for it, durably: so the money moves first.
    await settled.settlement.committed
    await this.#send(answer, settled)
  }

  /** Nothing has been sent, so the failure is an ordinary HTTP error. */
  async fail(error: GatewayError): Promise<void> {
    await this.#generation.settle({ error: error.code, onCommitFailure: 'void' })
    throw error
  }

  tick(): void {
    const { timeouts } = this.#generation.model.provider
    if (this.#generation.elapsedMs > timeouts.totalMs) {
      this.interrupt(
        new GatewayError('provider_timeout', 'The answer took longer than this gateway waits.'),
      )
    }
  }

  follow(call: UpstreamCall): void {
    this.#call = call
    if (this.#interrupted) call.abort(this.#interrupted)
  }

  interrupt(error: GatewayError): void {
    this.#interrupted = error
    this.#call?.abort(error)
  }

  #send(answer: ChatAnswer, settled: Settled): Promise<void> {
    const { id, createdSeconds, model } = this.#generation
    const { choices, ...rest } = answer
    const body = JSON.stringify({
      id,
      object: 'chat.completion',
      created: createdSeconds,
      model: model.id,
      provider: model.provider.provider.id,
      choices,
      ...rest,
      usage: usageBody(settled),
    })
    this.#client.start({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...this.#generation.headers(),
    })
    return this.#client.end(body)
  }
}
