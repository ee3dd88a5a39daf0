import type { Database } from '../db/database.ts'
import { GatewayError } from '../errors.ts'
import { availableOf, type Balance, insufficientCredits } from './balance.ts'
import type { Committer } from './committer.ts'
import type { AdjustRequest, Credited, CreditRequest } from './ledger.ts'
import { formatUsd, mostNanoUsd } from './money.ts'
import { EntryWork, ledgerUnavailable } from './work.ts'

const mostTextLength = 500

/** Money that comes or goes without a generation: committed first, spendable then, and once per reference. */
export class Credits {
  readonly #db: Database
  readonly #committer: Committer
  /** The last credit under way for each reference: the next one for it waits, and then finds it in the database. */
  readonly #underWay = new Map<string, Promise<unknown>>()

  constructor(db: Database, committer: Committer) {
    this.#db = db
    this.#committer = committer
  }

  async credit(
    kind: 'top_up' | 'refund',
    balance: Balance | undefined,
    request: CreditRequest,
  ): Promise<Credited> {
    const { accountId, amountNanoUsd, reference, note = null } = request
    const known = require(balance, accountId)
    requireText('reference', reference)
    if (note !== null) requireText('note', note)
    if (amountNanoUsd <= 0n) throw unfit('amount', 'An amount to credit is above 0.')
    requireRoom(known, amountNanoUsd)

    const name = `${kind} ${reference}`
    const before = this.#underWay.get(name)
    const mine = (async () => {
      await before?.catch(() => {})
      if (await this.#isKnown(kind, request))
        return { alreadyCredited: true, balanceNanoUsd: known.balanceNanoUsd }
      return this.#commit(known, new EntryWork(known, { kind, amountNanoUsd, reference, note }))
    })()
    this.#underWay.set(name, mine)
    try {
      return await mine
    } finally {
      if (this.#underWay.get(name) === mine) this.#underWay.delete(name)
    }
  }

  async adjust(
    balance: Balance | undefined,
    { accountId, amountNanoUsd, note }: AdjustRequest,
  ): Promise<Credited> {
    const known = require(balance, accountId)
    requireText('note', note)
    if (amountNanoUsd === 0n) throw unfit('amount', 'An adjustment changes something.')
    requireRoom(known, amountNanoUsd)
    const availableNanoUsd = availableOf(known)
    if (-amountNanoUsd > availableNanoUsd) throw insufficientCredits(known, -amountNanoUsd)
    return this.#commit(
      known,
      new EntryWork(known, { kind: 'adjustment', amountNanoUsd, reference: null, note }),
    )
  }

  async #commit(balance: Balance, work: EntryWork): Promise<Credited> {
    this.#committer.add(work)
    await work.committed
    return { alreadyCredited: false, balanceNanoUsd: balance.balanceNanoUsd }
  }

  async #isKnown(
    kind: 'top_up' | 'refund',
    { accountId, amountNanoUsd, reference }: CreditRequest,
  ): Promise<boolean> {
    const [entry] = await this.#db
      .read<{ account_id: string; amount_nano_usd: bigint }>(
        'SELECT account_id, amount_nano_usd FROM ledger_entries WHERE reference = ? AND kind = ?',
        [reference, kind],
      )
      .catch((error: unknown) => Promise.reject(ledgerUnavailable(String(error))))
    if (entry === undefined) return false
    if (entry.account_id === accountId && entry.amount_nano_usd === amountNanoUsd) return true
    throw unfit(
      'reference',
      `The reference ${reference} was used before, for another account or amount.`,
    )
  }
}

const require = (balance: Balance | undefined, accountId: string): Balance => {
  if (balance === undefined)
    throw new GatewayError('not_found', `There is no account ${accountId}.`)
  if (balance.frozen) throw ledgerUnavailable(`${accountId} is frozen.`)
  return balance
}

const requireText = (param: string, text: string): void => {
  if (text.trim() !== '' && text.length <= mostTextLength) return
  throw unfit(param, `A ${param} has 1 to ${mostTextLength} characters.`)
}

/** Keeps balances, and sums of them, within 64 bits. */
const requireRoom = ({ balanceNanoUsd }: Balance, amountNanoUsd: bigint): void => {
  if (balanceNanoUsd + amountNanoUsd <= mostNanoUsd) return
  throw unfit('amount', `A balance is at most ${formatUsd(mostNanoUsd)} USD.`)
}

const unfit = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_request', message, { param })
