/** Where each request stands at one moment, as seen from outside: by its client and by the upstream's own ledger. */
import { now, type ReceivedRequest } from '../upstream/received-request.ts'
import type { Load, Sent } from './load.ts'

export const phases = [
  /** Sent, and not yet at the upstream. */
  'admitting',
  /** The upstream has it, and has produced nothing. */
  'dispatched',
  /** Streaming, and too young for a checkpoint by time. */
  'first second',
  'later stream',
  /** The upstream is done, its client is not. */
  'settling',
  /** Its client saw the end. */
  'done',
] as const
export type Phase = (typeof phases)[number]

const firstCheckpointMs = 1_000

export const phaseOf = (sent: Sent, received: ReceivedRequest | undefined): Phase => {
  if (sent.chat.complete || sent.chat.endedAt !== null) return 'done'
  if (received === undefined) return 'admitting'
  if (received.completedAt !== null) return 'settling'
  if (received.firstTokenAt === null) return 'dispatched'
  return now() - received.arrivedAt < firstCheckpointMs ? 'first second' : 'later stream'
}

export type AtKill = {
  phase: Phase
  /** Tokens that the upstream had handed to its socket: nobody can have been given more. */
  tokensProduced: number
}

/** Taken in the tick of the kill. */
export const standing = (
  load: Load,
  received: ReadonlyMap<string, ReceivedRequest>,
): Map<string, AtKill> => {
  return new Map(
    load.sent.map(sent => {
      const upstream = received.get(sent.id)
      const { tokensProduced = 0 } = upstream ?? {}
      return [sent.id, { phase: phaseOf(sent, upstream), tokensProduced }]
    }),
  )
}
