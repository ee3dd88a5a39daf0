/**
 * Money: the only writer of balances. Admission happens in memory, at this one place and synchronously, so that no
 * concurrency can overshoot; what was decided is made durable behind it, many at a time. Knows no model and no HTTP.
 */
import type { Database } from '../db/database.ts'
import { GatewayError } from '../errors.ts'
import { availableOf, type Balance, insufficientCredits } from './balance.ts'
import { Committer } from './committer.ts'
import { Credits } from './credits.ts'
import type { Receipt } from './receipt.ts'
import { loadBalances, recover } from './recovery.ts'
import { CheckpointWork, ledgerUnavailable, SettleWork } from './work.ts'

/** A part of a balance set aside for one generation. Lives in memory; ends exactly once, settled or released. */
export interface Hold {
  readonly generationId: string
  readonly accountId: string
  readonly keyId: string
  readonly amountNanoUsd: bigint
  readonly state: 'open' | 'settled' | 'released'
}

export type HoldRequest = {
  generationId: string
  accountId: string
  keyId: string
  amountNanoUsd: bigint
}

export type SettleOptions = {
  /**
   * What becomes of the charge when the commit fails. `void`: the client got nothing (a whole answer), so it is
   * withdrawn. `keep`: what was delivered (a stream) is owed, so it stays queued until it commits.
   */
  onCommitFailure: 'void' | 'keep'
  /** What the operator may have to pay upstream though nothing was charged; noted per key. */
  exposureNanoUsd?: bigint
}

export interface Settlement {
  readonly chargeNanoUsd: bigint
  /** The part of the price that the balance could not cover. */
  readonly lossNanoUsd: bigint
  /** Resolves once durable; rejects with `ledger_unavailable`. Need not be awaited. */
  readonly committed: Promise<void>
}

export type Snapshot = { balanceNanoUsd: bigint; heldNanoUsd: bigint; availableNanoUsd: bigint }

export type CreditRequest = {
  accountId: string
  /** Above 0. */
  amountNanoUsd: bigint
  /** Of the outside payment; credits once. */
  reference: string
  note?: string | null
}

export type AdjustRequest = { accountId: string; amountNanoUsd: bigint; note: string }

export type Credited = { alreadyCredited: boolean; balanceNanoUsd: bigint }

/** For metrics; the first four only ever grow. */
export type LedgerStats = {
  readonly commits: number
  readonly failedCommits: number
  readonly settled: number
  /** Settles that the database refused for good; anything above 0 calls for `tollgate audit`. */
  readonly refused: number
  readonly lastCommitMs: number
  readonly openHolds: number
  readonly heldNanoUsd: bigint
  readonly queued: number
}

export type LedgerOptions = {
  /** Unix milliseconds. */
  clock: () => number
  /** Called after each commit that succeeded. */
  onCommit?: (durationMs: number, works: number) => void
  /** A settle that contradicts the database, for the log: its account is refused until someone has looked. */
  onRefused?: (internal: string) => void
}

/** The only writer of balances. */
export interface Ledger {
  readonly stats: LedgerStats
  /** False while the last commit failed: nothing may be dispatched. */
  readonly available: boolean
  /** Generations that recovery settled when this ledger was opened. */
  readonly recovered: number
  /** Makes a newly created account known, with a balance of 0. */
  open(accountId: string): void
  /** Raises `not_found`. */
  snapshot(accountId: string): Snapshot
  availableNanoUsd(accountId: string): bigint
  /** Raises `insufficient_credits` (metadata `balance`, `held`, `required`), `ledger_unavailable`. */
  hold(request: HoldRequest): Hold
  /** False where the balance does not cover it; the hold is then as before. */
  extend(hold: Hold, extraNanoUsd: bigint): boolean
  /**
   * Ends a hold for nothing; idempotent, and without effect after `settle`. Where a checkpoint was made the evidence
   * stands: it settles at that, as it would after a crash.
   */
  release(hold: Hold): void
  /** Queues the evidence so far; not awaited. Without effect once the hold has ended. */
  checkpoint(hold: Hold, receipt: Receipt): void
  /**
   * Idempotent: the first call decides, later ones return the same. Throws for a hold that was released, and for a
   * price below 0. After a checkpoint `void` means `keep`.
   */
  settle(hold: Hold, receipt: Receipt, options: SettleOptions): Settlement
  /** Raises `invalid_request` (amount, or a reference used for something else), `not_found`, `ledger_unavailable`. */
  credit(request: CreditRequest): Promise<Credited>
  /** Money back to the account; likewise once per reference. */
  refund(request: CreditRequest): Promise<Credited>
  /** Either sign. Raises `insufficient_credits` beyond what is available. */
  adjust(request: AdjustRequest): Promise<Credited>
  /** Resolves when all that is queued is committed; rejects with `ledger_unavailable` after `timeoutMs` (10 s). */
  drain(timeoutMs?: number): Promise<void>
}

/**
 * Loads the balances, checks each against its last entry, and settles what a crash left running.
 * Throws where a balance and its last entry differ: serving on would hide it.
 */
export const openLedger = async (db: Database, options: LedgerOptions): Promise<Ledger> => {
  const balances = await loadBalances(db)
  const recovered = await recover(db, balances, options.clock)
  return new MemoryLedger(db, balances, recovered, options)
}

class OpenHold implements Hold {
  readonly generationId: string
  readonly accountId: string
  readonly keyId: string
  readonly balance: Balance
  amountNanoUsd: bigint
  state: Hold['state'] = 'open'
  checkpoint: CheckpointWork | undefined
  settlement: SettleWork | undefined

  constructor(balance: Balance, { generationId, accountId, keyId, amountNanoUsd }: HoldRequest) {
    this.generationId = generationId
    this.accountId = accountId
    this.keyId = keyId
    this.balance = balance
    this.amountNanoUsd = amountNanoUsd
  }
}

class MemoryLedger implements Ledger {
  readonly recovered: number
  readonly #balances: Map<string, Balance>
  readonly #committer: Committer
  readonly #credits: Credits
  readonly #onRefused: (internal: string) => void
  #commits = 0
  #failedCommits = 0
  #settled = 0
  #refused = 0
  #lastCommitMs = 0
  #openHolds = 0
  #heldNanoUsd = 0n

  constructor(
    db: Database,
    balances: Map<string, Balance>,
    recovered: number,
    options: LedgerOptions,
  ) {
    this.recovered = recovered
    this.#balances = balances
    this.#committer = new Committer(db, {
      clock: options.clock,
      onCommit: (durationMs, works) => {
        this.#commits++
        this.#lastCommitMs = durationMs
        options.onCommit?.(durationMs, works)
      },
      onFailure: () => this.#failedCommits++,
      expectsMore: () => this.#openHolds > 0,
    })
    this.#credits = new Credits(db, this.#committer)
    this.#onRefused = internal => {
      this.#refused++
      options.onRefused?.(internal)
    }
  }

  get stats(): LedgerStats {
    return {
      commits: this.#commits,
      failedCommits: this.#failedCommits,
      settled: this.#settled,
      refused: this.#refused,
      lastCommitMs: this.#lastCommitMs,
      openHolds: this.#openHolds,
      heldNanoUsd: this.#heldNanoUsd,
      queued: this.#committer.queued,
    }
  }

  get available(): boolean {
    return !this.#committer.failing
  }

  open(accountId: string): void {
    if (this.#balances.has(accountId)) return
    this.#balances.set(accountId, {
      accountId,
      balanceNanoUsd: 0n,
      heldNanoUsd: 0n,
      durableNanoUsd: 0n,
      frozen: false,
    })
  }

  snapshot(accountId: string): Snapshot {
    const balance = this.#balanceOf(accountId)
    const { balanceNanoUsd, heldNanoUsd } = balance
    return { balanceNanoUsd, heldNanoUsd, availableNanoUsd: availableOf(balance) }
  }

  availableNanoUsd(accountId: string): bigint {
    return availableOf(this.#balanceOf(accountId))
  }

  #balanceOf(accountId: string): Balance {
    const balance = this.#balances.get(accountId)
    if (balance === undefined)
      throw new GatewayError('not_found', `There is no account ${accountId}.`)
    return balance
  }

  hold(request: HoldRequest): Hold {
    const balance = this.#balanceOf(request.accountId)
    if (this.#committer.failing) throw ledgerUnavailable('The last commit failed.')
    if (balance.frozen)
      throw ledgerUnavailable(
        `${request.accountId} is frozen until \`tollgate audit\` was run and the gateway restarted.`,
      )
    if (request.amountNanoUsd < 0n) throw new RangeError('A hold is never negative.')
    if (request.amountNanoUsd > availableOf(balance))
      throw insufficientCredits(balance, request.amountNanoUsd)
    const hold = new OpenHold(balance, request)
    this.#openHolds++
    this.#reserve(balance, request.amountNanoUsd)
    return hold
  }

  extend(hold: Hold, extraNanoUsd: bigint): boolean {
    const { balance, state } = mine(hold)
    if (state !== 'open' || extraNanoUsd < 0n || extraNanoUsd > availableOf(balance)) return false
    mine(hold).amountNanoUsd += extraNanoUsd
    this.#reserve(balance, extraNanoUsd)
    return true
  }

  #reserve(balance: Balance, amountNanoUsd: bigint): void {
    balance.heldNanoUsd += amountNanoUsd
    this.#heldNanoUsd += amountNanoUsd
  }

  release(hold: Hold): void {
    const open = mine(hold)
    if (open.state !== 'open') return
    if (open.checkpoint !== undefined)
      this.settle(hold, open.checkpoint.receipt, { onCommitFailure: 'keep' })
    else this.#end(open, 'released')
  }

  #end(hold: OpenHold, state: 'released' | 'settled'): void {
    hold.state = state
    this.#openHolds--
    this.#reserve(hold.balance, -hold.amountNanoUsd)
  }

  checkpoint(hold: Hold, receipt: Receipt): void {
    const open = mine(hold)
    if (open.state !== 'open') return
    if (open.checkpoint !== undefined && !open.checkpoint.taken) {
      open.checkpoint.receipt = receipt
      return
    }
    open.checkpoint = new CheckpointWork(receipt, () => open.state === 'open')
    this.#committer.add(open.checkpoint)
  }

  settle(
    hold: Hold,
    receipt: Receipt,
    { onCommitFailure, exposureNanoUsd = 0n }: SettleOptions,
  ): Settlement {
    const open = mine(hold)
    if (open.settlement !== undefined) return open.settlement
    if (open.state !== 'open')
      throw new Error(`${hold.generationId} was released: it can't be settled.`)
    const { priceNanoUsd } = receipt
    if (priceNanoUsd < 0n || exposureNanoUsd < 0n)
      throw new RangeError('A price is never negative.')
    this.#end(open, 'settled')
    const availableNanoUsd = availableOf(open.balance)
    const chargeNanoUsd = priceNanoUsd < availableNanoUsd ? priceNanoUsd : availableNanoUsd
    const lossNanoUsd = priceNanoUsd - chargeNanoUsd
    open.balance.balanceNanoUsd -= chargeNanoUsd
    // What a checkpoint has made durable can't be withdrawn: recovery would charge it.
    const keep = onCommitFailure === 'keep' || open.checkpoint !== undefined
    const terms = { receipt, chargeNanoUsd, lossNanoUsd, exposureNanoUsd, keep }
    open.settlement = new SettleWork(open.balance, terms, this.#onRefused)
    this.#settled++
    this.#committer.add(open.settlement)
    return open.settlement
  }

  credit(request: CreditRequest): Promise<Credited> {
    return this.#credits.credit('top_up', this.#balances.get(request.accountId), request)
  }

  refund(request: CreditRequest): Promise<Credited> {
    return this.#credits.credit('refund', this.#balances.get(request.accountId), request)
  }

  adjust(request: AdjustRequest): Promise<Credited> {
    return this.#credits.adjust(this.#balances.get(request.accountId), request)
  }

  async drain(timeoutMs = 10_000): Promise<void> {
    if (await this.#committer.idle(timeoutMs)) return
    throw ledgerUnavailable(
      `${this.#committer.queued} entries were not committed within ${timeoutMs} ms.`,
    )
  }
}

/** Holds are made here and nowhere else. */
const mine = (hold: Hold): OpenHold => {
  if (hold instanceof OpenHold) return hold
  throw new TypeError('Not a hold of this ledger.')
}
