/** Money as text: decimal USD outside, bigint nano-USD (1e-9 USD) inside. No float in between. */
import { GatewayError } from '../errors.ts'

const nanoPerUsd = 1_000_000_000n
const decimals = 9

/** 1e18, a ninth of what the database's 64 bits hold, so that sums of a few never overflow. */
export const mostNanoUsd = 1_000_000_000n * nanoPerUsd

/**
 * `'25'`, `'0.0021'` → nano-USD, exactly. A sign is taken only where `signed`. Raises `invalid_request` for anything else:
 * exponents, blanks, more than 9 decimals, more than 1e9 USD.
 */
export const parseUsd = (text: string, { signed = false }: { signed?: boolean } = {}): bigint => {
  const [, sign, whole, fraction = ''] = /^([+-]?)(\d{1,10})(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined || (sign && !signed))
    throw unfit('Write it in USD with a point, such as 25 or 0.50.')
  if (fraction.length > decimals)
    throw unfit(`The smallest part of a USD is 1e-9: no more than ${decimals} decimals.`)
  const amount = BigInt(whole) * nanoPerUsd + BigInt(fraction.padEnd(decimals, '0'))
  if (amount > mostNanoUsd) throw unfit(`At most ${formatUsd(mostNanoUsd)} USD.`)
  return sign === '-' ? -amount : amount
}

const unfit = (advice: string): GatewayError =>
  new GatewayError('invalid_request', `Not an amount of money. ${advice}`)

/** nano-USD → `'0.0021'`, `'25'`, `'-1.5'`: no exponent, no zeros at the end. */
export const formatUsd = (nanoUsd: bigint): string => {
  if (nanoUsd < 0n) return `-${formatUsd(-nanoUsd)}`
  const fraction = nanoUsd % nanoPerUsd
  const whole = (nanoUsd / nanoPerUsd).toString()
  if (fraction === 0n) return whole
  return `${whole}.${fraction.toString().padStart(decimals, '0').replace(/0+$/, '')}`
}
