/** Prices as a provider publishes them, turned into integer rates once, at start. No float reaches a charge. */
import type { ListPrice } from '../providers/provider.ts'
import type { Price, Rates } from './price.ts'

const nanoPerUsd = 9

/**
 * An amount of USD as nano-USD, exact: `'0.15'` → `150000000n`. Raises `RangeError` for anything but a decimal of up to
 * 9 digits on either side of the point.
 */
export const toNanoUsd = (usd: string): bigint => {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(usd) ?? []
  if (whole === undefined) throw new RangeError(`${JSON.stringify(usd)} is not an amount of USD`)
  return BigInt(whole + fraction.padEnd(nanoPerUsd, '0'))
}

/**
 * A number of USD as nano-USD, to the nearest: 0.18000000000000002 is 180000000n. `perCount` (a power of ten) divides:
 * fees are published per thousand.
 */
export const publishedToNanoUsd = (usd: number, perCount: 1 | 1000 = 1): bigint => {
  const digits = perCount === 1 ? nanoPerUsd : nanoPerUsd - 3
  if (!(usd >= 0 && usd < 1e9)) throw new RangeError(`${usd} is not a price in USD`)
  return BigInt(usd.toFixed(digits).replace('.', ''))
}

/** The reverse of `toNanoUsd`: `150000000n` → `'0.15'`. */
export const toUsd = (nanoUsd: bigint): string => {
  const digits = nanoUsd.toString().padStart(nanoPerUsd + 1, '0')
  const fraction = digits.slice(-nanoPerUsd).replace(/0+$/, '')
  return digits.slice(0, -nanoPerUsd) + (fraction === '' ? '' : `.${fraction}`)
}

type Given = { [K in keyof Rates]?: bigint | undefined } & { input: bigint; output: bigint }

/** A rate for every class: one that is not published is billed as its like, and never as less than the provider bills. */
export const completeRates = (given: Given): Rates => {
  const cacheWrite = given.cacheWrite ?? given.input
  const inputAudio = given.inputAudio ?? given.input
  return {
    input: given.input,
    cacheRead: given.cacheRead ?? given.input,
    cacheWrite,
    cacheWrite1h: given.cacheWrite1h ?? cacheWrite,
    inputAudio,
    cacheReadAudio: given.cacheReadAudio ?? inputAudio,
    output: given.output,
    outputAudio: given.outputAudio ?? given.output,
  }
}

/** A price written by hand, in a provider's own file or the operator's. Raises `RangeError` for a malformed amount. */
export const priceFromList = (list: ListPrice, version: string): Price => {
  const amount = (usd: string | undefined) => (usd === undefined ? undefined : toNanoUsd(usd))
  const request = amount(list.fees?.request)
  const webSearch = amount(list.fees?.webSearch)
  const rates = completeRates({
    input: toNanoUsd(list.input),
    output: toNanoUsd(list.output),
    cacheRead: amount(list.cacheRead),
    cacheWrite: amount(list.cacheWrite),
    cacheWrite1h: amount(list.cacheWrite1h),
    inputAudio: amount(list.inputAudio),
    cacheReadAudio: amount(list.cacheReadAudio),
    outputAudio: amount(list.outputAudio),
  })
  return {
    version,
    effectiveFrom: null,
    tiers: [{ abovePromptTokens: 0, rates }],
    fees: {
      ...(request === undefined ? {} : { request }),
      ...(webSearch === undefined ? {} : { webSearch }),
    },
  }
}
