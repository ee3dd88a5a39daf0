/**
 * The ledger against a model of a few lines: any order of commands, commits that fail, crashes. LEDGER_SEQUENCES says how
 * many sequences (default 300), LEDGER_SEED repeats a run.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import type { Hold, Ledger, Settlement } from '../../src/ledger/ledger.ts'
import { type Fixture, openFixture, receiptFor } from './fixture.ts'

const sequences = Number(process.env.LEDGER_SEQUENCES ?? 300)
const seed = Number(process.env.LEDGER_SEED ?? Date.now() % 2 ** 31)
const sequencesPerDatabase = 250
const perToken = 1_000n

type ModelHold = {
  account: number
  amount: bigint
  evidence: bigint | undefined
  end: 'open' | 'settled' | 'released'
}
type ModelAccount = { id: string; keyId: string; balance: bigint }
type Model = {
  accounts: ModelAccount[]
  holds: ModelHold[]
  payments: Map<string, { account: number; amount: bigint }>
}
type Real = {
  fixture: Fixture
  ledger: Ledger
  holds: Hold[]
  settlements: Map<Hold, Settlement>
  run: number
}
type Command = fc.AsyncCommand<Model, Real>

const held = (model: Model, account: number): bigint =>
  model.holds.reduce(
    (sum, hold) => (hold.account === account && hold.end === 'open' ? sum + hold.amount : sum),
    0n,
  )

const availableIn = (model: Model, account: number): bigint =>
  (model.accounts[account]?.balance ?? 0n) - held(model, account)

/** What a settle does to the model; the charge. */
const settleInModel = (model: Model, hold: ModelHold, price: bigint): bigint => {
  hold.end = 'settled'
  const available = availableIn(model, hold.account)
  const charge = price < available ? price : available
  const account = model.accounts[hold.account]
  if (account) account.balance -= charge
  return charge
}

const succeeds = async (work: () => unknown): Promise<boolean> => {
  try {
    await work()
    return true
  } catch {
    return false
  }
}

const compare = (model: Model, { ledger }: Real): void => {
  for (const [index, { id, balance }] of model.accounts.entries()) {
    const heldNanoUsd = held(model, index)
    expect(ledger.snapshot(id)).toEqual({
      ...{ balanceNanoUsd: balance, heldNanoUsd, availableNanoUsd: balance - heldNanoUsd },
    })
  }
}

const command = (
  name: string,
  check: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<void> | void,
): Command => ({
  check,
  run: async (model, real) => {
    await run(model, real)
    compare(model, real)
  },
  toString: () => name,
})

const pick = <Item>(items: Item[], index: number): Item => items[index % items.length] as Item

const create = (): Command =>
  command(
    'create',
    model => model.accounts.length < 3,
    async (model, { fixture, ledger }) => {
      const { id } = await fixture.accounts.create({ name: 'A' })
      ledger.open(id)
      const { id: keyId } = await fixture.keys.create({ accountId: id, name: 'k' })
      model.accounts.push({ id, keyId, balance: 0n })
    },
  )

const hasAccount = (model: Model): boolean => model.accounts.length > 0
const hasHold = (model: Model): boolean => model.holds.length > 0

/** Few references, so that the same payment comes again, also for another account or amount. */
const credit = (which: number, amount: bigint, reference: number): Command =>
  command(
    `credit ${which} ${amount} ref ${reference}`,
    hasAccount,
    async (model, { ledger, run }) => {
      const account = which % model.accounts.length
      const name = `${run}/${reference}`
      const before = model.payments.get(name)
      const request = {
        accountId: pick(model.accounts, which).id,
        amountNanoUsd: amount,
        reference: name,
      }
      if (before !== undefined && (before.account !== account || before.amount !== amount)) {
        await expect(ledger.credit(request)).rejects.toMatchObject({ code: 'invalid_request' })
        return
      }
      expect((await ledger.credit(request)).alreadyCredited).toBe(before !== undefined)
      if (before !== undefined) return
      model.payments.set(name, { account, amount })
      pick(model.accounts, which).balance += amount
    },
  )

const adjust = (which: number, amount: bigint): Command =>
  command(`adjust ${which} ${amount}`, hasAccount, async (model, { ledger }) => {
    const account = pick(model.accounts, which)
    const covered = amount !== 0n && -amount <= availableIn(model, which % model.accounts.length)
    const request = { accountId: account.id, amountNanoUsd: amount, note: 'n' }
    expect(await succeeds(() => ledger.adjust(request))).toBe(covered)
    if (covered) account.balance += amount
  })

const hold = (which: number, amount: bigint): Command =>
  command(`hold ${which} ${amount}`, hasAccount, async (model, { ledger, fixture, holds }) => {
    const { id: accountId, keyId } = pick(model.accounts, which)
    const account = which % model.accounts.length
    const covered = amount <= availableIn(model, account)
    const request = { generationId: fixture.newId(), accountId, keyId, amountNanoUsd: amount }
    expect(await succeeds(() => holds.push(ledger.hold(request)))).toBe(covered)
    if (covered) model.holds.push({ account, amount, evidence: undefined, end: 'open' })
  })

const extend = (which: number, extra: bigint): Command =>
  command(`extend ${which} ${extra}`, hasHold, (model, { ledger, holds }) => {
    const known = pick(model.holds, which)
    const covered = known.end === 'open' && extra <= availableIn(model, known.account)
    expect(ledger.extend(pick(holds, which), extra)).toBe(covered)
    if (covered) known.amount += extra
  })

const checkpoint = (which: number, output: number, wait: boolean): Command =>
  command(
    `checkpoint ${which} ${output}${wait ? ' and wait' : ''}`,
    hasHold,
    async (model, { ledger, holds }) => {
      const known = pick(model.holds, which)
      ledger.checkpoint(pick(holds, which), receiptFor(pick(holds, which), { output }))
      if (known.end === 'open') known.evidence = BigInt(output) * perToken
      if (wait) await ledger.drain()
    },
  )

const settle = (which: number, output: number, keep: boolean, wait: boolean): Command =>
  command(
    `settle ${which} ${output}${wait ? ' and wait' : ''}`,
    hasHold,
    async (model, { ledger, holds, settlements }) => {
      const known = pick(model.holds, which)
      const real = pick(holds, which)
      const receipt = receiptFor(real, { output })
      const settled = () =>
        ledger.settle(real, receipt, { onCommitFailure: keep ? 'keep' : 'void' })
      if (known.end === 'released') {
        expect(settled).toThrow()
        return
      }
      const settlement = settled()
      if (known.end === 'settled') expect(settlement).toBe(settlements.get(real) ?? settlement)
      else
        expect(settlement.chargeNanoUsd).toBe(
          settleInModel(model, known, BigInt(output) * perToken),
        )
      settlements.set(real, settlement)
      if (wait) await settlement.committed
    },
  )

const release = (which: number): Command =>
  command(`release ${which}`, hasHold, (model, { ledger, holds }) => {
    const known = pick(model.holds, which)
    ledger.release(pick(holds, which))
    if (known.end !== 'open') return
    if (known.evidence === undefined) known.end = 'released'
    else settleInModel(model, known, known.evidence)
  })

/** A settle whose commit fails: withdrawn or kept, and nothing is admitted until a commit has succeeded. */
const settleOnFullDisk = (which: number, output: number, keep: boolean): Command =>
  command(
    `settle ${which} ${output} on a full disk, ${keep ? 'kept' : 'void'}`,
    hasHold,
    async (model, { ledger, fixture, holds }) => {
      const known = pick(model.holds, which)
      if (known.end !== 'open') return
      const real = pick(holds, which)
      await ledger.drain()
      Atomics.store(fixture.faults, 0, 1)
      const { committed } = ledger.settle(real, receiptFor(real, { output }), {
        onCommitFailure: keep ? 'keep' : 'void',
      })
      const balance = model.accounts[known.account]?.balance ?? 0n
      const charge = settleInModel(model, known, BigInt(output) * perToken)
      expect(await succeeds(() => committed)).toBe(false)
      expect(ledger.available).toBe(false)
      const account = pick(model.accounts, known.account)
      const request = {
        generationId: fixture.newId(),
        accountId: account.id,
        keyId: account.keyId,
        amountNanoUsd: 0n,
      }
      expect(() => ledger.hold(request)).toThrow(
        expect.objectContaining({ code: 'ledger_unavailable' }),
      )
      // What a checkpoint has made durable is never withdrawn.
      if (!keep && known.evidence === undefined) account.balance = balance
      else expect(account.balance).toBe(balance - charge)
      await ledger.drain()
      expect(ledger.available).toBe(true)
    },
  )

/**
 * A new ledger on what the old one had committed. Holds of a crash are worth nothing; what was open settles at its
 * evidence, in the order of admission.
 */
const crash = (): Command =>
  command(
    'crash',
    () => true,
    async (model, real) => {
      await real.ledger.drain()
      real.ledger = await real.fixture.reopenLedger()
      const open = model.holds.filter(({ end }) => end === 'open')
      model.holds = []
      real.holds = []
      for (const { account, evidence = 0n } of open) {
        const known = model.accounts[account]
        if (known) known.balance -= evidence < known.balance ? evidence : known.balance
      }
    },
  )

const which = fc.nat(20)
const amount = fc.bigInt(0n, 20_000n)
const output = fc.nat(30)
const commands = [
  fc.constant(create()),
  fc.tuple(which, fc.bigInt(1n, 50_000n), fc.nat(4)).map(([w, a, r]) => credit(w, a, r)),
  fc.tuple(which, fc.bigInt(-20_000n, 20_000n)).map(([w, a]) => adjust(w, a)),
  fc.tuple(which, amount).map(([w, a]) => hold(w, a)),
  fc.tuple(which, amount).map(([w, a]) => hold(w, a)),
  fc.tuple(which, amount).map(([w, a]) => extend(w, a)),
  fc.tuple(which, output, fc.boolean()).map(([w, o, wait]) => checkpoint(w, o, wait)),
  fc
    .tuple(which, output, fc.boolean(), fc.boolean())
    .map(([w, o, keep, wait]) => settle(w, o, keep, wait)),
  fc
    .tuple(which, output, fc.boolean(), fc.boolean())
    .map(([w, o, keep, wait]) => settle(w, o, keep, wait)),
  which.map(release),
  fc.tuple(which, output, fc.boolean()).map(([w, o, keep]) => settleOnFullDisk(w, o, keep)),
  fc.constant(crash()),
]

test(`agrees with its model over ${sequences} sequences`, {
  timeout: 60_000 + sequences * 400,
}, async () => {
  let fixture: Fixture | undefined
  let run = 0
  console.log(`LEDGER_SEED=${seed}`)
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 40 }), async sequence => {
    if (run++ % sequencesPerDatabase === 0) {
      await fixture?.stop()
      fixture = undefined
    }
    fixture ??= await openFixture()
    const { db } = fixture
    const ledger = await fixture.reopenLedger()
    const model: Model = { accounts: [], holds: [], payments: new Map() }
    const real: Real = { fixture, ledger, holds: [], settlements: new Map(), run }
    await fc.asyncModelRun(() => ({ model, real }), sequence)
    await real.ledger.drain()
    for (const open of real.holds) real.ledger.release(open)
    await real.ledger.drain()
    if (run % 10 === 0) expect(await audit(db)).toEqual([])
    const ids = model.accounts.map(({ id }) => id)
    const marks = ids.map(() => '?').join()
    expect(await db.read(`SELECT id FROM generations WHERE state = 'running'`)).toEqual([])
    const rows = await db.read<{ id: string; balance_nano_usd: bigint; sum_nano_usd: bigint }>(
      `SELECT id, balance_nano_usd, coalesce((SELECT sum(amount_nano_usd) FROM ledger_entries WHERE account_id = accounts.id), 0)
       AS sum_nano_usd FROM accounts WHERE id IN (${marks})`,
      ids,
    )
    for (const row of rows) {
      expect(row.balance_nano_usd).toBe(row.sum_nano_usd)
      expect(real.ledger.snapshot(row.id).balanceNanoUsd).toBe(row.balance_nano_usd)
    }
  })
  try {
    await fc.assert(property, { numRuns: sequences, seed, endOnFailure: false })
    if (fixture !== undefined) expect(await audit(fixture.db)).toEqual([])
  } finally {
    await fixture?.stop()
  }
})
