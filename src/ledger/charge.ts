import type { Usage } from '../wire/usage.ts'
import type { AppliedRates } from './receipt.ts'

export const chargeOf = (_usage: Usage, _applied: AppliedRates): bigint => {
  throw new Error('not yet')
}
