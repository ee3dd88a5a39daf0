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
