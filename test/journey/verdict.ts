/** What the gateway's books say of each request, held against what its client saw and what the upstream gave. */
import type { Read } from '../../src/db/database.ts'
import { testModel } from '../harness.ts'
import type { ReceivedRequest } from '../upstream/received-request.ts'
import type { Sent } from './load.ts'
import type { AtKill } from './phases.ts'

/** `null`: as it must be. */
export type Verdict = 'lost' | 'double' | 'above evidence' | null

const priceOf = (inputTokens: number, outputTokens: number): bigint =>
  BigInt(inputTokens) * testModel.inputNanoUsd + BigInt(outputTokens) * testModel.outputNanoUsd

export type GenerationLine = {
  id: string
  title: string
  state: string
  charge_nano_usd: bigint
}

/** The generations and charges of one round. */
export type Books = {
  generations: Map<string, GenerationLine[]>
  /** By generation: each charge, above 0. */
  charges: Map<string, bigint[]>
  running: number
  balanceNanoUsd: bigint
  /** Of all rounds. */
  chargedNanoUsd: bigint
  lastGenerationId: string
  lastEntryId: number
}

export const readBooks = async (
  read: Read,
  after: Pick<Books, 'lastGenerationId' | 'lastEntryId'>,
): Promise<Books> => {
  const generations = await read<GenerationLine>(
    'SELECT id, title, state, charge_nano_usd FROM generations WHERE id > ? ORDER BY id',
    [after.lastGenerationId],
  )
  const entries = await read<{ id: number; reference: string; amount_nano_usd: bigint }>(
    "SELECT id, reference, amount_nano_usd FROM ledger_entries WHERE kind = 'charge' AND id > ? ORDER BY id",
    [after.lastEntryId],
  )
  const [sums] = await read<{
    running: number
    balance_nano_usd: bigint
    charged_nano_usd: bigint
  }>(`
    SELECT (SELECT count(*) FROM generations WHERE state = 'running') AS running,
      (SELECT sum(charge_nano_usd) FROM generations) AS charged_nano_usd, balance_nano_usd FROM accounts`)
  return {
    generations: toLists(generations.map(line => [line.title, line])),
    charges: toLists(entries.map(entry => [entry.reference, -entry.amount_nano_usd])),
    running: sums?.running ?? 0,
    balanceNanoUsd: sums?.balance_nano_usd ?? 0n,
    chargedNanoUsd: sums?.charged_nano_usd ?? 0n,
    lastGenerationId: generations.at(-1)?.id ?? after.lastGenerationId,
    lastEntryId: entries.at(-1)?.id ?? after.lastEntryId,
  }
}

const toLists = <T>(pairs: [string, T][]): Map<string, T[]> => {
  const lists = new Map<string, T[]>()
  for (const [name, value] of pairs) {
    const list = lists.get(name)
    if (list) list.push(value)
    else lists.set(name, [value])
  }
  return lists
}

export const judge = (
  sent: Sent,
  received: readonly ReceivedRequest[],
  { tokensProduced }: AtKill,
  books: Books,
): Verdict => {
  const generations = books.generations.get(sent.id) ?? []
  const charges = generations.flatMap(({ id }) => books.charges.get(id) ?? [])
  const charged = charges.reduce((sum, charge) => sum + charge, 0n)
  if (received.length > 1 || generations.length > 1 || charges.length > 1) return 'double'

  if (sent.chat.complete) {
    const { prompt_tokens: input, completion_tokens: output } = received[0]?.usage ?? {}
    const price = priceOf(Number(input), Number(output))
    if (generations[0]?.state !== 'settled' || charged < price) return 'lost'
    return charged > price ? 'above evidence' : null
  }
  const most = tokensProduced === 0 ? 0n : priceOf(sent.promptTokens, tokensProduced)
  return charged > most ? 'above evidence' : null
}
