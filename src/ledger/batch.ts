import type { Operation, Value } from '../db/database.ts'
import type { Balance } from './balance.ts'
import { type BatchStatements, operationsFor } from './batch-statements.ts'
import { type GenerationState, pushGeneration } from './generation-row.ts'
import type { Receipt } from './receipt.ts'

export type EntryKind = 'top_up' | 'charge' | 'refund' | 'adjustment'

/** What a generation that ended leaves behind, besides its own row. */
export type Ending = {
  generationId: string
  keyId: string
  model: string
  createdAtMs: number
  promptTokens: number
  completionTokens: number
  chargeNanoUsd: bigint
  exposureNanoUsd: bigint
}

type DayUse = {
  day: string
  model: string
  requests: number
  promptTokens: number
  completionTokens: number
  chargeNanoUsd: bigint
}

type KeyUse = {
  accountId: string
  usageNanoUsd: bigint
  exposureNanoUsd: bigint
  usedAtMs: number
  /** Few: the models of one batch. */
  days: DayUse[]
}

const minuteMs = 60_000
const dayMs = 86_400_000

/**
 * Many endings, composed into few statements: one update per account and key, one upsert per day, key and model, one
 * row per generation and entry. Balances after each entry are worked out here, so what is withdrawn leaves no gap.
 */
export class Batch {
  readonly #statements: BatchStatements
  readonly #nowMs: number
  readonly #balances = new Map<Balance, bigint>()
  /** By key id. */
  readonly #keys = new Map<string, KeyUse>()
  readonly #ended: Value[] = []
  readonly #running: Value[] = []
  readonly #recovered: Value[] = []
  readonly #entries: Value[] = []

  constructor(statements: BatchStatements, nowMs: number) {
    this.#statements = statements
    this.#nowMs = nowMs
  }

  addCheckpoint(receipt: Receipt): void {
    pushGeneration(this.#running, receipt, 'running' satisfies GenerationState, 0n, 0n)
  }

  addSettled(receipt: Receipt, chargeNanoUsd: bigint, lossNanoUsd: bigint): void {
    pushGeneration(
      this.#ended,
      receipt,
      'settled' satisfies GenerationState,
      chargeNanoUsd,
      lossNanoUsd,
    )
  }

  addRecovered(generationId: string, chargeNanoUsd: bigint, lossNanoUsd: bigint): void {
    this.#recovered.push(chargeNanoUsd, lossNanoUsd, generationId)
  }

  addEnding(balance: Balance, ending: Ending): void {
    const { chargeNanoUsd, keyId } = ending
    if (chargeNanoUsd > 0n)
      this.addEntry(balance, 'charge', -chargeNanoUsd, ending.generationId, null)
    let use = this.#keys.get(keyId)
    if (use === undefined) {
      use = {
        accountId: balance.accountId,
        usageNanoUsd: 0n,
        exposureNanoUsd: 0n,
        usedAtMs: 0,
        days: [],
      }
      this.#keys.set(keyId, use)
    }
    addToKey(use, ending)
  }

  addEntry(
    balance: Balance,
    kind: EntryKind,
    amountNanoUsd: bigint,
    reference: string | null,
    note: string | null,
  ): void {
    const afterNanoUsd = this.#balanceOf(balance) + amountNanoUsd
    this.#balances.set(balance, afterNanoUsd)
    this.#entries.push(
      balance.accountId,
      kind,
      amountNanoUsd,
      afterNanoUsd,
      reference,
      note,
      this.#nowMs,
    )
  }

  /** With what was added before it in this batch. */
  #balanceOf(balance: Balance): bigint {
    return this.#balances.get(balance) ?? balance.durableNanoUsd
  }

  /** Never empty: with nothing else to write it is a probe of the disk. */
  toOperations(): Operation[] {
    const statements = this.#statements
    const operations = [
      ...operationsFor(statements.generation, this.#running),
      ...operationsFor(statements.generation, this.#ended, 1),
      ...operationsFor(statements.recovery, this.#recovered, 1),
      ...operationsFor(statements.entry, this.#entries, 1),
      ...operationsFor(statements.balance, this.#balanceParams(), 1),
      ...operationsFor(statements.key, this.#keyParams(), 1),
      ...operationsFor(statements.day, this.#dayParams(), 1),
    ]
    return operations.length > 0 ? operations : operationsFor(statements.probe, [this.#nowMs], 1)
  }

  #balanceParams(): Value[] {
    const params: Value[] = []
    for (const [balance, after] of this.#balances)
      params.push(after, balance.accountId, balance.durableNanoUsd)
    return params
  }

  #keyParams(): Value[] {
    const params: Value[] = []
    for (const [keyId, use] of this.#keys)
      params.push(use.usageNanoUsd, use.exposureNanoUsd, use.usedAtMs, keyId)
    return params
  }

  #dayParams(): Value[] {
    const params: Value[] = []
    for (const [keyId, { accountId, days }] of this.#keys) {
      for (const { day, model, requests, promptTokens, completionTokens, chargeNanoUsd } of days) {
        params.push(
          accountId,
          keyId,
          day,
          model,
          requests,
          promptTokens,
          completionTokens,
          chargeNanoUsd,
        )
      }
    }
    return params
  }

  /** To be called once the commit has succeeded. */
  committed(): void {
    for (const [balance, after] of this.#balances) balance.durableNanoUsd = after
  }
}

const addToKey = (use: KeyUse, ending: Ending): void => {
  const { model, createdAtMs, chargeNanoUsd } = ending
  use.usageNanoUsd += chargeNanoUsd
  use.exposureNanoUsd += ending.exposureNanoUsd
  use.usedAtMs = Math.max(use.usedAtMs, createdAtMs - (createdAtMs % minuteMs))
  const day = dayOf(createdAtMs)
  let sum = use.days.find(known => known.model === model && known.day === day)
  if (sum === undefined) {
    sum = { day, model, requests: 0, promptTokens: 0, completionTokens: 0, chargeNanoUsd: 0n }
    use.days.push(sum)
  }
  sum.requests++
  sum.promptTokens += ending.promptTokens
  sum.completionTokens += ending.completionTokens
  sum.chargeNanoUsd += chargeNanoUsd
}

let lastDay = { number: -1, text: '' }

/** `YYYY-MM-DD`, UTC. */
export const dayOf = (timeMs: number): string => {
  const number = Math.floor(timeMs / dayMs)
  if (number !== lastDay.number)
    lastDay = { number, text: new Date(timeMs).toISOString().slice(0, 10) }
  return lastDay.text
}
