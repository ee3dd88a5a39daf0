/** The kinds of work that the ledger makes durable, and what each becomes when it can't be. */
import type { DatabaseError } from '../db/database-error.ts'
import { GatewayError } from '../errors.ts'
import { completionTokens, promptTokens } from '../wire/usage.ts'
import type { Balance } from './balance.ts'
import type { Batch, EntryKind } from './batch.ts'
import type { Work } from './committer.ts'
import type { Settlement } from './ledger.ts'
import type { Receipt } from './receipt.ts'

export const ledgerUnavailable = (internal: string): GatewayError =>
  new GatewayError(
    'ledger_unavailable',
    'Nothing can be charged at the moment, so nothing is served. Try again shortly.',
    {
      headers: { 'retry-after': '2' },
      internal,
    },
  )

/** A promise that work settles; nobody has to listen. */
class Outcome {
  readonly promise: Promise<void>
  #resolve: () => void = () => {}
  #reject: (error: GatewayError) => void = () => {}

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.promise.catch(() => {})
  }

  resolve(): void {
    this.#resolve()
  }

  reject(error: GatewayError): void {
    this.#reject(error)
  }
}

export type SettleTerms = {
  receipt: Receipt
  chargeNanoUsd: bigint
  lossNanoUsd: bigint
  exposureNanoUsd: bigint
  /** Keep it queued when the commit fails, rather than withdraw it. */
  keep: boolean
}

/** A generation that ended; its charge has already left the balance in memory. */
export class SettleWork implements Work, Settlement {
  readonly wanted = true
  readonly chargeNanoUsd: bigint
  readonly lossNanoUsd: bigint
  readonly #balance: Balance
  readonly #terms: SettleTerms
  readonly #outcome = new Outcome()
  readonly #onRefused: (internal: string) => void

  constructor(balance: Balance, terms: SettleTerms, onRefused: (internal: string) => void) {
    this.chargeNanoUsd = terms.chargeNanoUsd
    this.lossNanoUsd = terms.lossNanoUsd
    this.#balance = balance
    this.#terms = terms
    this.#onRefused = onRefused
  }

  get committed(): Promise<void> {
    return this.#outcome.promise
  }

  addTo(batch: Batch): void {
    const { receipt, chargeNanoUsd, lossNanoUsd, exposureNanoUsd } = this.#terms
    const { generationId, keyId, model, createdAtMs, usage } = receipt
    batch.addSettled(receipt, chargeNanoUsd, lossNanoUsd)
    batch.addEnding(this.#balance, {
      generationId,
      keyId,
      model,
      createdAtMs,
      chargeNanoUsd,
      exposureNanoUsd,
      promptTokens: promptTokens(usage),
      completionTokens: completionTokens(usage),
    })
  }

  whenCommitted(): void {
    this.#outcome.resolve()
  }

  whenFailed(error: DatabaseError): boolean {
    this.#outcome.reject(ledgerUnavailable(error.message))
    if (!this.#terms.keep) this.#withdraw()
    return this.#terms.keep
  }

  whenRefused(error: DatabaseError): void {
    this.#withdraw()
    this.#balance.frozen = true
    const internal = `The settle of ${this.#terms.receipt.generationId} contradicts the database: ${error.message}`
    this.#outcome.reject(ledgerUnavailable(internal))
    this.#onRefused(internal)
  }

  #withdraw(): void {
    this.#balance.balanceNanoUsd += this.chargeNanoUsd
  }
}

/** The evidence of a stream so far. A newer one takes the place of one that still waits. */
export class CheckpointWork implements Work {
  readonly #isOpen: () => boolean
  receipt: Receipt
  /** It is on its way to the disk: a newer checkpoint needs work of its own. */
  taken = false

  constructor(receipt: Receipt, isOpen: () => boolean) {
    this.receipt = receipt
    this.#isOpen = isOpen
  }

  get wanted(): boolean {
    return this.#isOpen()
  }

  addTo(batch: Batch): void {
    this.taken = true
    batch.addCheckpoint(this.receipt)
  }

  whenCommitted(): void {}

  /** Evidence is never owed: the next checkpoint, or the settle, says more. */
  whenFailed(): boolean {
    return false
  }

  whenRefused(): void {}
}

export type EntryTerms = {
  kind: EntryKind
  amountNanoUsd: bigint
  reference: string | null
  note: string | null
}

/** Money that comes or goes otherwise. A deduction has already left the balance in memory, a credit comes later. */
export class EntryWork implements Work {
  readonly wanted = true
  readonly #balance: Balance
  readonly #terms: EntryTerms
  readonly #outcome = new Outcome()

  constructor(balance: Balance, terms: EntryTerms) {
    this.#balance = balance
    this.#terms = terms
    if (terms.amountNanoUsd < 0n) balance.balanceNanoUsd += terms.amountNanoUsd
  }

  get committed(): Promise<void> {
    return this.#outcome.promise
  }

  addTo(batch: Batch): void {
    const { kind, amountNanoUsd, reference, note } = this.#terms
    batch.addEntry(this.#balance, kind, amountNanoUsd, reference, note)
  }

  whenCommitted(): void {
    if (this.#terms.amountNanoUsd > 0n) this.#balance.balanceNanoUsd += this.#terms.amountNanoUsd
    this.#outcome.resolve()
  }

  whenFailed(error: DatabaseError): boolean {
    if (this.#terms.amountNanoUsd < 0n) this.#balance.balanceNanoUsd -= this.#terms.amountNanoUsd
    this.#outcome.reject(ledgerUnavailable(error.message))
    return false
  }

  whenRefused(error: DatabaseError): void {
    this.whenFailed(error)
    this.#balance.frozen = true
  }
}
