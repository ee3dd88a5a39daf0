/** Which figures apply to one request. Chooses among what start-up resolved; the ledger does the arithmetic. */
import type { AppliedRates, Price, PriceTier } from './price.ts'

/** A tier belongs to exactly one price, and a gateway has one mark-up, so nothing is made twice. */
const appliedByTier = new WeakMap<PriceTier, AppliedRates>()

/** The tier that a prompt of `promptTokens` is billed by; `markupBasisPoints` are hundredths of a per cent. */
export const appliedRates = (
  price: Price,
  promptTokens: number,
  markupBasisPoints: number,
): AppliedRates => {
  const tier = tierFor(price, promptTokens)
  const known = appliedByTier.get(tier)
  if (known?.markupBasisPoints === markupBasisPoints) return known
  const { version, effectiveFrom, fees } = price
  const applied = Object.freeze({
    version,
    effectiveFrom,
    rates: tier.rates,
    fees,
    markupBasisPoints,
  })
  appliedByTier.set(tier, applied)
  return applied
}

const tierFor = ({ tiers }: Price, promptTokens: number): PriceTier => {
  let tier = tiers[0]
  for (let i = 1; i < tiers.length; i++) {
    const next = tiers[i]
    if (next === undefined || promptTokens <= next.abovePromptTokens) break
    tier = next
  }
  return tier
}
