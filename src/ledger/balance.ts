import { GatewayError } from '../errors.ts'
import { formatUsd } from './money.ts'

/** What one account has, in memory. Invariant: 0 ≤ held ≤ balance ≤ durable. */
export type Balance = {
  readonly accountId: string
  /** Credits count once they are durable, charges and deductions as soon as they are decided. */
  balanceNanoUsd: bigint
  heldNanoUsd: bigint
  /** As the last commit left it in the database. */
  durableNanoUsd: bigint
  /** The database contradicted what is known here: nothing more is spent until someone has looked. */
  frozen: boolean
}

export const availableOf = ({ balanceNanoUsd, heldNanoUsd }: Balance): bigint =>
  balanceNanoUsd - heldNanoUsd

/** The caller of the ledger adds what it knows: `affordable_max_tokens`, `top_up_url`. */
export const insufficientCredits = (
  { balanceNanoUsd, heldNanoUsd }: Balance,
  requiredNanoUsd: bigint,
): GatewayError => {
  const balance = formatUsd(balanceNanoUsd)
  const held = formatUsd(heldNanoUsd)
  const required = formatUsd(requiredNanoUsd)
  const inUse = heldNanoUsd > 0n ? `, of which ${held} USD is held for requests under way` : ''
  const message = `This may cost up to ${required} USD; the balance is ${balance} USD${inUse}. Top up, or ask for less.`
  return new GatewayError('insufficient_credits', message, {
    metadata: { balance, held, required },
  })
}
