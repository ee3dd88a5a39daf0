/** Prices as a client pays them, mark-up included, exactly: bigint in, decimal string out. */

/** Basis points have 4 decimals. */
const wholeInBasisPoints = 10_000n
const markupDecimals = 4
const nanoDecimals = 9
/** A rate is for a million tokens. */
const tokenDecimals = 6

/** nano-USD → USD with the mark-up, unrounded. */
export const withMarkup = (nanoUsd: bigint, markupBasisPoints: number): string =>
  decimal(marked(nanoUsd, markupBasisPoints), nanoDecimals + markupDecimals)

/** nano-USD per million tokens → USD per token with the mark-up, unrounded: `'0.00000015'`. */
export const perToken = (rateNanoUsd: bigint, markupBasisPoints: number): string =>
  decimal(marked(rateNanoUsd, markupBasisPoints), nanoDecimals + markupDecimals + tokenDecimals)

const marked = (nanoUsd: bigint, markupBasisPoints: number): bigint =>
  nanoUsd * (wholeInBasisPoints + BigInt(markupBasisPoints))

/** `digits` × 10^−decimals, without zeros at the end. */
const decimal = (digits: bigint, decimals: number): string => {
  const text = digits.toString().padStart(decimals + 1, '0')
  const fraction = text.slice(-decimals).replace(/0+$/, '')
  const whole = text.slice(0, -decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
