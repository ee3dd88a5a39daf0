import type { CountedFee, TokenClass } from '../wire/usage.ts'

/** nano-USD per million tokens of each class; every class has a rate, so nothing is ever served unpriced. */
export type Rates = { readonly [K in TokenClass]: bigint }

/** What one model costs. Resolved once, at start, into integers. */
export type Price = {
  /** Names where the figures come from, kept on each receipt: `genai-prices@0.1.8`, `file:…`. */
  readonly version: string
  /** When the figures took effect (ISO date), `null` where the source does not say. */
  readonly effectiveFrom: string | null
  /** Ascending by `abovePromptTokens`; the first is 0. The last one that the prompt exceeds applies to all tokens. */
  readonly tiers: readonly [PriceTier, ...PriceTier[]]
  /** nano-USD each. */
  readonly fees: { readonly [K in CountedFee]?: bigint }
}

export type PriceTier = { readonly abovePromptTokens: number; readonly rates: Rates }

/** One tier of a price with the gateway's mark-up: all that a charge is computed from, kept on the receipt. */
export type AppliedRates = {
  readonly version: string
  readonly effectiveFrom: string | null
  readonly rates: Rates
  readonly fees: Price['fees']
  readonly markupBasisPoints: number
}
