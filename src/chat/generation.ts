import type { ApiKey } from '../accounts/keys.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { chargeOf } from '../ledger/charge.ts'
import type { Hold, Ledger, Settlement } from '../ledger/ledger.ts'
import type { AppliedRates, Attempt, Caller, Receipt } from '../ledger/receipt.ts'
import type { Model } from '../models/model.ts'
import { appliedRates } from '../models/pricing.ts'
import type { ChatRequest, FinishReason } from '../wire/chat.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { costAtMost, type Estimate } from './estimate.ts'
import type { Meter, MeteredUsage } from './meter.ts'

/** How an answer ended. */
export type Ending = {
  /** Code of the catalogue, `client_closed_request`, or `null` where it ended well. */
  error: string | null
  /** The client got nothing of it (a whole answer), or what was delivered is owed (a stream). */
  onCommitFailure: 'void' | 'keep'
}

/** A settled generation, as the client is told of it. */
export type Settled = {
  usage: Usage
  estimated: boolean
  applied: AppliedRates
  priceNanoUsd: bigint
  settlement: Settlement
}

export type GenerationParts = {
  id: string
  key: ApiKey
  chat: ChatRequest
  model: Model
  estimate: Estimate
  /** Per choice; `null` leaves the model's own maximum. */
  outputCap: number | null
  hold: Hold
  ledger: Ledger
  meter: Meter
  caller: Caller
  markupBasisPoints: number
  admittedAtMs: number
  clock: () => number
}

/** Half of a grant used: time to renew it. A refused renewal is tried again this often, in tokens. */
const retryExtendTokens = 256
/** Near the end of a grant that can't be renewed, what is not yet counted is counted from this much on. */
const recountTokens = 64
/** The rough count is at most this many times too high: 12 characters a token throughout is no text. */
const roughExcess = 4

/** One request between its hold and its settle: what it is, what it has used, and the one way to end it. */
export class Generation {
  readonly id: string
  readonly chat: ChatRequest
  readonly model: Model
  /** Of the one attempt: what renders the request also reads the answer. */
  readonly dialect: Dialect
  readonly outputCap: number | null
  readonly meter: Meter
  readonly createdSeconds: number
  readonly attempts: Attempt[] = []
  finishReason: FinishReason | null = null
  nativeFinishReason: string | null = null
  ttftMs: number | null = null
  readonly #parts: GenerationParts
  readonly #keyId: string
  /** Set once it is settled; for the request log. */
  ended: { error: string | null; settled: Settled } | null = null
  #settled: Promise<Settled> | null = null
  #grantedTokens: number
  #extendAtTokens: number
  #checkpointing = false

  constructor(parts: GenerationParts) {
    this.#parts = parts
    this.id = parts.id
    this.chat = parts.chat
    this.model = parts.model
    const { provider } = parts.model.provider
    this.dialect = provider.dialectFor?.(parts.model.upstreamModel, parts.chat) ?? provider.dialect
    this.outputCap = parts.outputCap
    this.meter = parts.meter
    this.createdSeconds = Math.floor(parts.admittedAtMs / 1_000)
    this.#keyId = parts.key.id
    this.#grantedTokens = parts.estimate.outputTokens
    this.#extendAtTokens = parts.estimate.outputNamed
      ? Number.POSITIVE_INFINITY
      : this.#grantedTokens / 2
  }

  get keyId(): string {
    return this.#keyId
  }

  get accountId(): string {
    return this.#parts.key.accountId
  }

  get elapsedMs(): number {
    return this.#parts.clock() - this.#parts.admittedAtMs
  }

  /** Response headers that tell of this generation. */
  headers(): Record<string, string> {
    const headers: Record<string, string> = { 'x-generation-id': this.id }
    if (this.outputCap !== null) headers['x-max-tokens-capped'] = String(this.outputCap)
    return headers
  }

  /** Renews the grant when half of it is used. False when it is used up and the balance pays for no more. */
  canGoOn(): boolean {
    const used = this.meter.roughOutputTokens
    if (used < this.#extendAtTokens) return true
    const { estimate, ledger, hold } = this.#parts
    // All is said, only the usage is still to come.
    if (this.finishReason !== null && estimate.choices === 1) return true
    const more = estimate.outputTokens
    const price =
      this.#costAtMost(this.#grantedTokens + more) - this.#costAtMost(this.#grantedTokens)
    if (ledger.extend(hold, price)) {
      this.#grantedTokens += more
      this.#extendAtTokens = this.#grantedTokens - more / 2
      return true
    }
    this.#extendAtTokens = Math.min(used + retryExtendTokens, this.#grantedTokens)
    if (used < this.#grantedTokens) return true
    // The rough count is too high for most text: only an exact one may end an answer that is paid for.
    if (this.meter.exactOutputTokens > this.#grantedTokens) return false
    if (used >= this.#grantedTokens * roughExcess) return false
    if (this.meter.uncountedRoughTokens >= recountTokens) void this.checkpoint()
    return true
  }

  /** Writes the usage so far as durable evidence. Not awaited by anyone; one at a time. */
  async checkpoint(): Promise<void> {
    if (this.#checkpointing || this.#settled) return
    this.#checkpointing = true
    const metered = await this.meter.usage(this.chat)
    this.#checkpointing = false
    if (this.#settled) return
    this.#parts.ledger.checkpoint(this.#parts.hold, this.#receipt(metered, null))
  }

  /**
   * Ends the generation and its hold; the first call decides, later ones get the same. Resolves when the charge stands
   * in memory; `settlement.committed` when it is durable.
   */
  settle(ending: Ending): Promise<Settled> {
    this.#settled ??= this.#settle(ending)
    return this.#settled
  }

  async #settle({ error, onCommitFailure }: Ending): Promise<Settled> {
    const { ledger, hold } = this.#parts
    // Nothing delivered and nothing reported: nothing is owed, whatever the upstream may bill.
    // What an upstream counted before it failed by itself is its own loss.
    const counted = this.meter.running !== null && error !== null && exposing.has(error)
    const owed = this.meter.delivered || this.meter.reported !== null || counted
    const metered = owed ? await this.meter.usage(this.chat) : nothingUsed
    const receipt = this.#receipt(metered, error)
    const exposed = !owed && error !== null && exposing.has(error)
    const settlement = ledger.settle(hold, receipt, {
      onCommitFailure,
      ...(exposed ? { exposureNanoUsd: hold.amountNanoUsd } : {}),
    })
    const settled = {
      usage: receipt.usage,
      estimated: receipt.estimated,
      applied: receipt.applied,
      priceNanoUsd: receipt.priceNanoUsd,
      settlement,
    }
    this.ended = { error, settled }
    return settled
  }

  #receipt({ usage, estimated }: MeteredUsage, error: string | null): Receipt {
    const { key, chat, model, caller, admittedAtMs, markupBasisPoints } = this.#parts
    const applied = appliedRates(model.price, promptTokens(usage), markupBasisPoints)
    const priced = withPricedCounts(usage, applied)
    return {
      generationId: this.id,
      accountId: key.accountId,
      keyId: key.id,
      modelAsked: chat.model,
      model: model.id,
      provider: model.provider.provider.id,
      streamed: chat.stream === true,
      usage: priced,
      estimated,
      applied,
      priceNanoUsd: chargeOf(priced, applied),
      finishReason: this.finishReason,
      nativeFinishReason: this.nativeFinishReason,
      error,
      attempts: this.attempts,
      caller,
      createdAtMs: admittedAtMs,
      latencyMs: this.elapsedMs,
      ttftMs: this.ttftMs,
    }
  }

  #costAtMost(outputTokens: number): bigint {
    const { estimate, model, markupBasisPoints } = this.#parts
    return costAtMost(
      estimate.inputTokens,
      outputTokens,
      appliedRates(model.price, estimate.inputTokens, markupBasisPoints),
    )
  }
}

/**
 * The fee for the request itself is owed whatever the upstream reports; pieces without a fee of their own are inside
 * the tokens' price, and a settle must not fail over them.
 */
const withPricedCounts = (usage: Usage, { fees }: AppliedRates): Usage => {
  if (usage === nothingUsed.usage) return usage
  const searches = fees.webSearch === undefined ? 0 : (usage.counts?.webSearch ?? 0)
  if (fees.request === undefined && searches === 0)
    return usage.counts ? { ...usage, counts: {} } : usage
  const counts: Usage['counts'] = {}
  if (fees.request !== undefined) counts.request = 1
  if (searches > 0) counts.webSearch = searches
  return { ...usage, counts }
}

const nothingUsed: MeteredUsage = { usage: { tokens: {} }, estimated: false }

/** Endings after which the upstream may have worked, and may bill for it, though nothing came of it. */
const exposing = new Set(['client_closed_request', 'provider_timeout', 'draining'])
