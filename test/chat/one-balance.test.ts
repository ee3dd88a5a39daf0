/** Many requests at once on one balance: exactly as many as it pays for reach the upstream. */
import { Agent } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseUsd } from '../../src/ledger/money.ts'
import { SentChat } from '../chat-client.ts'
import { startTestGateway, type TestGateway, testModel } from '../harness.ts'
import { answerScripted } from '../upstream/answer.ts'
import { script } from '../upstream/scripted-upstream.ts'

const requests = 500
const maxTokens = 50

let at: TestGateway
let agent: Agent

beforeEach(async () => {
  at = await startTestGateway({ credit: '0' })
  agent = new Agent({ keepAlive: true })
})
afterEach(async () => {
  agent.destroy()
  await at.close()
})

/** All of one size, since the hold is made from it. */
const chatOf = (index: number, stream: boolean): SentChat =>
  new SentChat({
    url: at.url,
    key: at.key,
    agent,
    body: {
      model: testModel.id,
      stream,
      max_tokens: maxTokens,
      messages: [{ role: 'user', content: script({ id: String(1000 + index), chunks: 10 }) }],
    },
  })

/** What the gateway itself says that it sets aside for one of them. */
const holdOfOne = async (stream: boolean): Promise<bigint> => {
  const refused = chatOf(0, stream)
  await refused.ended
  expect(refused.status).toBe(402)
  return parseUsd(JSON.parse(refused.text).error.metadata.required)
}

/** The upstream answers nobody until the gate opens, so no hold ends before all have asked for theirs. */
const gated = (): (() => void) => {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  at.upstream.answer = async exchange => {
    await opened
    await answerScripted(exchange)
  }
  return open
}

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('500 at once, %s', (_, stream) => {
  test.each([0, 1, 7])('on a balance for %i', async affordable => {
    const hold = await holdOfOne(stream)
    // One nano-dollar short of one more.
    const credit = BigInt(affordable + 1) * hold - 1n
    await at.gateway.books.ledger.credit({
      accountId: at.accountId,
      amountNanoUsd: credit,
      reference: 'for some',
    })
    const open = gated()
    const chats = Array.from({ length: requests }, (_, index) => chatOf(index, stream))
    const refused = () => chats.filter(({ status, endedAt }) => status === 402 && endedAt)
    await expect.poll(() => refused().length, { timeout: 15_000 }).toBe(requests - affordable)
    await expect.poll(() => at.upstream.requests.length).toBe(affordable)
    expect(at.gateway.books.ledger.stats.openHolds).toBe(affordable)
    open()
    await Promise.all(chats.map(({ ended }) => ended))

    expect(at.upstream.requests).toHaveLength(affordable)
    expect(chats.filter(({ complete }) => complete)).toHaveLength(affordable)
    const prices = at.upstream.requests.map(({ usage }) => priceOf(usage))
    expect(at.balance()).toBe(prices.reduce((left, price) => left - price, credit))
    expect(at.gateway.books.ledger.stats.openHolds).toBe(0)
    for (const { text } of refused())
      expectFigures(JSON.parse(text).error, hold, credit, affordable)
  })
})

const priceOf = (usage: Record<string, unknown> | null): bigint =>
  BigInt(Number(usage?.prompt_tokens)) * testModel.inputNanoUsd +
  BigInt(Number(usage?.completion_tokens)) * testModel.outputNanoUsd

type Refusal = { code: string; metadata: Record<string, string | number> }

const expectFigures = (error: Refusal, hold: bigint, credit: bigint, affordable: number) => {
  expect(error.code).toBe('insufficient_credits')
  const { balance, held, required, affordable_max_tokens: tokens } = error.metadata
  expect(parseUsd(String(balance))).toBe(credit)
  expect(parseUsd(String(held))).toBe(hold * BigInt(affordable))
  expect(parseUsd(String(required))).toBe(hold)
  // What is left, a nano-dollar less than one hold, pays for one token less than was asked.
  expect(tokens).toBe(maxTokens - 1)
}
