/** A thousand clients leave at random moments. `ABORTS` (1000) and `ABORT_SEED` from the environment. */
import { Agent } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SentChat } from '../chat-client.ts'
import { countedPrompt } from '../counted-prompt.ts'
import { startTestGateway, type TestGateway, testModel } from '../harness.ts'
import type { GenerationLine } from '../journey/verdict.ts'
import { Seeded } from '../seeded.ts'
import type { ReceivedRequest, ScriptInput } from '../upstream/scripted-upstream.ts'
import { countWords } from '../upstream/vocabulary.ts'

const aborts = Number(process.env.ABORTS ?? 1_000)
const seed = Number(process.env.ABORT_SEED ?? Math.floor(Math.random() * 1e9))
const atOnce = 12
const noticeMs = 100
/** Client, gateway and upstream share this test's event loop: what a busy machine makes it late is not the gateway's. */
const loopDelay = monitorEventLoopDelay({ resolution: 1 })

let at: TestGateway
let agent: Agent

beforeAll(async () => {
  at = await startTestGateway({ credit: '100' })
  agent = new Agent({ keepAlive: true })
})
afterAll(async () => {
  agent.destroy()
  await at.close()
})

type Kind = { stream: boolean; script: (seeded: Seeded) => ScriptInput }

const kinds: [Kind, ...Kind[]] = [
  { stream: true, script: s => ({ chunks: 100, gapMs: s.between(5, 30) }) },
  { stream: true, script: s => ({ chunks: 100, gapMs: s.between(5, 30), usageInChunks: true }) },
  {
    stream: true,
    script: s => ({ chunks: 40, tokensPerChunk: 9, gapMs: s.between(5, 40), noUsage: true }),
  },
  { stream: true, script: s => ({ chunks: 20, delayMs: s.between(0, 200) }) },
  { stream: true, script: s => ({ chunks: 20, gapMs: 100, silentMs: s.between(0, 200) }) },
  { stream: false, script: s => ({ chunks: s.between(1, 50), delayMs: s.between(0, 400) }) },
  { stream: false, script: s => ({ chunks: 50, silentMs: s.between(0, 400) }) },
]

type Left = { id: string; promptTokens: number; chat: SentChat }

const leaveOne = async (number: number, seeded: Seeded): Promise<Left> => {
  const kind = seeded.pick(kinds)
  const id = `abort-${number}`
  const { content, promptTokens } = countedPrompt({ id, ...kind.script(seeded) })
  const chat = new SentChat({
    url: at.url,
    key: at.key,
    agent,
    headers: { 'x-title': id },
    body: { model: testModel.id, stream: kind.stream, messages: [{ role: 'user', content }] },
  })
  await Promise.race([chat.ended, moment(chat, seeded)])
  chat.leave()
  await chat.ended
  return { id, promptTokens, chat }
}

/** By time or by what has come; the fewer the earlier, since much happens at the beginning. */
const moment = async (chat: SentChat, seeded: Seeded): Promise<void> => {
  const share = seeded.next()
  const waitMs = share * share * 500
  const characters = seeded.next() < 0.5 ? seeded.between(1, 4_000) : Number.POSITIVE_INFINITY
  const leaveAt = performance.now() + waitMs
  while (performance.now() < leaveAt && chat.text.length < characters) {
    await new Promise(resolve => setTimeout(resolve, Math.min(2, waitMs)))
  }
}

const priceOf = (input: number, output: number): bigint =>
  BigInt(input) * testModel.inputNanoUsd + BigInt(output) * testModel.outputNanoUsd

type Charge = Pick<GenerationLine, 'title' | 'charge_nano_usd'>

/** What is wrong with one, or `null`. */
const wrongWith = (left: Left, received: ReceivedRequest | undefined, charge: bigint) => {
  const words = countWords(left.chat.answer())
  const least = words === 0 ? 0n : priceOf(left.promptTokens, words)
  const sent = received?.tokensProduced ?? 0
  const most = sent === 0 ? 0n : priceOf(left.promptTokens, sent)
  if (charge >= least && charge <= most) return null
  return `${left.id}: ${words} words received, ${sent} sent: ${least} ≤ ${charge} ≤ ${most}?`
}

test(`${aborts} clients that leave pay for what they got, and the upstream is closed at once (ABORT_SEED=${seed})`, {
  timeout: 90_000,
}, async () => {
  const seeded = new Seeded(seed)
  const left: Left[] = []
  loopDelay.enable()
  const leaver = async () => {
    for (let number = left.push(none); number <= aborts; number = left.push(none)) {
      left[number - 1] = await leaveOne(number, seeded)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, leaver))
  left.length = aborts
  const { ledger, db } = at.gateway.books
  await expect.poll(() => ledger.stats.openHolds, { timeout: 10_000 }).toBe(0)
  await ledger.drain()

  const upstream = new Map(at.upstream.requests.map(request => [request.id, request]))
  expect(upstream.size).toBe(at.upstream.requests.length)
  const rows = await db.read<Charge>('SELECT title, charge_nano_usd FROM generations')
  const charges = new Map(rows.map(row => [row.title, row.charge_nano_usd]))
  expect(charges.size).toBe(rows.length)
  expect(
    left.flatMap(one => wrongWith(one, upstream.get(one.id), charges.get(one.id) ?? 0n) ?? []),
  ).toEqual([])
  const charged = [...charges.values()].reduce((sum, charge) => sum + charge, 0n)
  expect(at.balance()).toBe(100_000_000_000n - charged)
  expectNoticed(left, upstream)
})

// Stands where one is still under way.
const none = {} as Left

const expectNoticed = (left: Left[], upstream: ReadonlyMap<string, ReceivedRequest>): void => {
  const noticedMs: number[] = []
  let open = 0
  for (const { id, chat } of left) {
    const received = upstream.get(id)
    if (!received || chat.leftAt === null || received.completedAt !== null) continue
    if (received.peerClosedAt === null) open++
    else {
      // What left before the upstream had it can't be closed there before it comes.
      const leftAt = Math.max(chat.leftAt, received.arrivedAt)
      noticedMs.push(Math.max(0, received.peerClosedAt - leftAt))
    }
  }
  noticedMs.sort((one, other) => one - other)
  const quantile = (share: number) => noticedMs[Math.floor(share * (noticedMs.length - 1))] ?? 0
  const lateMs = loopDelay.percentile(99) / 1e6
  const complete = left.filter(({ chat }) => chat.complete).length
  console.log(
    `${noticedMs.length} of ${left.length} left while the upstream was at work (${complete} had all); it was closed after ` +
      `p50 ${quantile(0.5).toFixed(1)} ms, p99 ${quantile(0.99).toFixed(1)} ms, at most ${quantile(1).toFixed(1)} ms; event loop late by p99 ${lateMs.toFixed(1)} ms`,
  )
  expect(open).toBe(0)
  expect(noticedMs.length).toBeGreaterThan(aborts / 2)
  // All three parties share one event loop and the machine with other work, so the tail is printed, not asserted.
  expect(quantile(0.5)).toBeLessThanOrEqual(noticeMs)
}
