import type { Usage } from '../wire/usage.ts'
import type { AppliedRates } from './receipt.ts'

/** More than any request can use; bounds every product below. */
const mostPieces = 1_000_000_000
const tokensPerRate = 1_000_000n
const wholeInBasisPoints = 10_000n
const divisor = tokensPerRate * wholeInBasisPoints
const mostChargeNanoUsd = 2n ** 63n - 1n

/**
 * nano-USD: `round_half_up((Σ tokens × rate / 1e6 + Σ count × fee) × (1 + markup))`, rounded once. Throws `RangeError` for
 * counts that are negative, fractional or absurd, and for a class without a rate: nothing is served for free unseen.
 */
export const chargeOf = (
  { tokens, counts }: Usage,
  { rates, fees, markupBasisPoints }: AppliedRates,
): bigint => {
  let sum = 0n
  for (const name in tokens) {
    // `in` gives strings; these are the object's own keys.
    const pieces = bounded(name, tokens[name as keyof typeof tokens])
    if (pieces !== 0) sum += BigInt(pieces) * priced(name, rates[name])
  }
  for (const name in counts) {
    // As above.
    const pieces = bounded(name, counts[name as keyof typeof counts])
    if (pieces !== 0) sum += BigInt(pieces) * priced(name, fees[name]) * tokensPerRate
  }
  const charge = (sum * (wholeInBasisPoints + BigInt(markupBasisPoints)) + divisor / 2n) / divisor
  if (charge > mostChargeNanoUsd)
    throw new RangeError(`A charge of ${charge} nano-USD is beyond all reason.`)
  return charge
}

const bounded = (name: string, pieces = 0): number => {
  if (Number.isSafeInteger(pieces) && pieces >= 0 && pieces <= mostPieces) return pieces
  throw new RangeError(`${pieces} is no count of ${name}.`)
}

const priced = (name: string, rate: bigint | undefined): bigint => {
  if (rate !== undefined && rate >= 0n) return rate
  throw new RangeError(`There is no rate for ${name}.`)
}
