/** A receipt as a row of `generations`, and back. */
import type { Value } from '../db/database.ts'
import { completionTokens, promptTokens } from '../wire/usage.ts'
import type { AppliedRates, Attempt, Receipt } from './receipt.ts'

export type GenerationState = 'running' | 'settled' | 'recovered'

/** A row of `generations`. */
export type GenerationRow = {
  id: string
  state: GenerationState
  account_id: string
  key_id: string
  created_at_ms: number
  model_asked: string
  model: string
  provider: string
  streamed: number
  estimated: number
  prompt_tokens: number
  completion_tokens: number
  price_nano_usd: bigint
  charge_nano_usd: bigint
  loss_nano_usd: bigint
  finish_reason: string | null
  native_finish_reason: string | null
  error: string | null
  title: string | null
  referer: string | null
  user_agent: string | null
  address: string
  latency_ms: number
  ttft_ms: number | null
  usage: string
  applied: string
  attempts: string
}

const fixed = [
  'id',
  'account_id',
  'key_id',
  'created_at_ms',
  'model_asked',
  'address',
  'title',
  'referer',
  'user_agent',
]
const changing = [
  ...[
    'state',
    'model',
    'provider',
    'streamed',
    'estimated',
    'prompt_tokens',
    'completion_tokens',
    'price_nano_usd',
  ],
  ...[
    'charge_nano_usd',
    'loss_nano_usd',
    'finish_reason',
    'native_finish_reason',
    'error',
    'latency_ms',
    'ttft_ms',
  ],
  ...['usage', 'applied', 'attempts'],
]
const columns = [...fixed, ...changing]

export const generationColumns = columns.length

/** Writes generations, each over its checkpoint where it has one, never over one that has ended. */
export const upsertGenerations = (rows: number): string => `
  INSERT INTO generations (${columns.join(', ')}) VALUES ${Array.from({ length: rows }, () => `(${columns.map(() => '?').join(', ')})`).join(', ')}
  ON CONFLICT (id) DO UPDATE SET ${changing.map(column => `${column} = excluded.${column}`).join(', ')}
  WHERE state = 'running'`

/** Appends one row of parameters for `upsertGenerations`: the whole of it, or nothing where it throws. */
export const pushGeneration = (
  params: Value[],
  receipt: Receipt,
  state: GenerationState,
  chargeNanoUsd: bigint,
  lossNanoUsd: bigint,
): void => {
  const { caller, usage } = receipt
  params.push(
    receipt.generationId,
    receipt.accountId,
    receipt.keyId,
    receipt.createdAtMs,
    receipt.modelAsked,
    caller.address,
    caller.title,
    caller.referer,
    caller.userAgent,
    state,
    receipt.model,
    receipt.provider,
    receipt.streamed ? 1 : 0,
    receipt.estimated ? 1 : 0,
    promptTokens(usage),
    completionTokens(usage),
    receipt.priceNanoUsd,
    chargeNanoUsd,
    lossNanoUsd,
    receipt.finishReason,
    receipt.nativeFinishReason,
    receipt.error,
    Math.round(receipt.latencyMs),
    receipt.ttftMs === null ? null : Math.round(receipt.ttftMs),
    JSON.stringify(usage),
    toJson(receipt.applied),
    JSON.stringify(receipt.attempts),
  )
}

const known = new WeakMap<AppliedRates, string>()

/** Requests for one model share one object of rates, which is never changed: written as JSON once. */
const toJson = (applied: AppliedRates): string => {
  const found = known.get(applied)
  if (found !== undefined) return found
  const json = JSON.stringify(applied, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  known.set(applied, json)
  return json
}

export const toReceipt = (row: GenerationRow): Receipt => ({
  generationId: row.id,
  accountId: row.account_id,
  keyId: row.key_id,
  modelAsked: row.model_asked,
  model: row.model,
  provider: row.provider,
  streamed: row.streamed === 1,
  // What this very module wrote.
  usage: JSON.parse(row.usage) as Receipt['usage'],
  estimated: row.estimated === 1,
  applied: toApplied(row.applied),
  priceNanoUsd: row.price_nano_usd,
  finishReason: row.finish_reason,
  nativeFinishReason: row.native_finish_reason,
  error: row.error,
  // As above.
  attempts: JSON.parse(row.attempts) as Attempt[],
  caller: {
    address: row.address,
    referer: row.referer,
    title: row.title,
    userAgent: row.user_agent,
  },
  createdAtMs: row.created_at_ms,
  latencyMs: row.latency_ms,
  ttftMs: row.ttft_ms,
})

type WrittenRates = { [name: string]: string }

export const toApplied = (json: string): AppliedRates => {
  // What `toJson` wrote.
  const written = JSON.parse(json) as Omit<AppliedRates, 'rates' | 'fees'> & {
    rates: WrittenRates
    fees: WrittenRates
  }
  return { ...written, rates: toBigints(written.rates), fees: toBigints(written.fees) }
}

const toBigints = (written: WrittenRates): { [name: string]: bigint } =>
  Object.fromEntries(Object.entries(written).map(([name, digits]) => [name, BigInt(digits)]))
