/** Streams that named no maximum: what a small balance does to them, and how a large one lets them run on. */
import { afterEach, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { parseUsd } from '../../src/ledger/money.ts'
import { countedPrompt } from '../counted-prompt.ts'
import { readEvents, startTestGateway, type TestGateway, testModel } from '../harness.ts'
import type { ScriptInput } from '../upstream/scripted-upstream.ts'
import { countWords } from '../upstream/vocabulary.ts'

let at: TestGateway

afterEach(async () => {
  await expect.poll(() => at.gateway.books.ledger.stats.openHolds).toBe(0)
  await at.gateway.books.ledger.drain()
  expect(await audit(at.gateway.books.db)).toEqual([])
  await at.close()
})

const priceOf = (input: number, output: number): bigint =>
  BigInt(input) * testModel.inputNanoUsd + BigInt(output) * testModel.outputNanoUsd

const ask = (content: string, more: Record<string, unknown> = {}) =>
  at.chat({ stream: true, messages: [{ role: 'user', content }], ...more })

/** The least output, in tokens, that the gateway holds for before it lets a request in. */
const usefulTokens = 64n

/** Credits what pays for the input, as the gateway bounds it, and for so many tokens of output. */
const creditFor = async (content: string, outputTokens: bigint): Promise<bigint> => {
  const refused = await ask(content)
  expect(refused.status).toBe(402)
  const { error } = (await refused.json()) as { error: { metadata: { required: string } } }
  const required = parseUsd(error.metadata.required)
  // A nano-dollar more: it is kept back for the rounding of the charge.
  const amountNanoUsd = required + (outputTokens - usefulTokens) * testModel.outputNanoUsd + 1n
  await at.gateway.books.ledger.credit({
    accountId: at.accountId,
    amountNanoUsd,
    reference: 'small',
  })
  return amountNanoUsd
}

type Chunk = {
  choices: {
    delta: { content?: string }
    finish_reason: string | null
    native_finish_reason?: string | null
  }[]
}

const outcome = async (response: Response) => {
  const events = readEvents(await response.text())
  // `as`: the shape is checked elsewhere.
  const chunks = events.filter(event => event !== '[DONE]') as Chunk[]
  const choices = chunks.flatMap(chunk => chunk.choices)
  return {
    done: events.at(-1) === '[DONE]',
    words: countWords(choices.map(({ delta }) => delta.content ?? '').join('')),
    ends: choices.filter(choice => choice.finish_reason !== null),
  }
}

const lossOf = async (): Promise<bigint> => {
  await at.gateway.books.ledger.drain()
  const rows = await at.gateway.books.db.read<{ loss_nano_usd: bigint }>(
    'SELECT loss_nano_usd FROM generations',
  )
  return rows.reduce((sum, row) => sum + row.loss_nano_usd, 0n)
}

const prompt = (wanted: ScriptInput) => countedPrompt({ id: 'long', ...wanted })

test('the output is capped upstream at what the balance pays for, and all of that is delivered', async () => {
  at = await startTestGateway({ credit: '0' })
  const { content, promptTokens } = prompt({ chunks: 100, tokensPerChunk: 20, gapMs: 2 })
  const credit = await creditFor(content, 500n)
  const response = await ask(content)
  expect(response.headers.get('x-max-tokens-capped')).toBe('500')
  const { done, words, ends } = await outcome(response)
  expect(at.upstream.request('long').maxTokens).toBe(500)
  expect({ done, words }).toEqual({ done: true, words: 500 })
  expect(ends).toMatchObject([{ finish_reason: 'length', native_finish_reason: 'length' }])
  expect(credit - at.balance()).toBe(priceOf(promptTokens, 500))
})

test.each([
  ['counted', false],
  ['reported in each chunk', true],
])(
  'an upstream that goes on beyond the cap is cut, and what it produced is charged as far as the balance goes: usage %s',
  async (_, usageInChunks) => {
    at = await startTestGateway({ credit: '0' })
    const { content, promptTokens } = prompt({
      chunks: 4_000,
      gapMs: 5,
      ignoreMaximum: true,
      usageInChunks,
    })
    const credit = await creditFor(content, 500n)
    const { done, words, ends } = await outcome(await ask(content))
    expect(done).toBe(true)
    expect(ends).toMatchObject([
      { finish_reason: 'length', native_finish_reason: 'insufficient_credits' },
    ])
    expect(words).toBeGreaterThanOrEqual(500)
    expect(words).toBeLessThan(2_000)
    await expect.poll(() => at.upstream.request('long').peerClosedAt).not.toBeNull()
    expect(at.balance()).toBeGreaterThanOrEqual(0n)
    expect(credit - at.balance() + (await lossOf())).toBe(priceOf(promptTokens, words))
  },
)

test('a long stream on a good balance has its grant renewed and runs to its end', async () => {
  at = await startTestGateway()
  const before = at.balance()
  const { content, promptTokens } = prompt({ chunks: 240, tokensPerChunk: 50, gapMs: 4 })
  const response = await ask(content)
  expect(response.headers.get('x-max-tokens-capped')).toBeNull()
  const held: bigint[] = []
  const watch = setInterval(() => held.push(at.gateway.books.ledger.stats.heldNanoUsd), 5)
  const { done, words, ends } = await outcome(response)
  clearInterval(watch)
  expect({ done, words }).toEqual({ done: true, words: 12_000 })
  expect(ends).toMatchObject([{ finish_reason: 'stop' }])
  expect(before - at.balance()).toBe(priceOf(promptTokens, 12_000))
  const grants = new Set(held.filter(amount => amount > 0n))
  expect(grants.size).toBeGreaterThanOrEqual(3)
  // Whatever was produced was held for.
  expect(held.reduce((most, amount) => (amount > most ? amount : most))).toBeGreaterThan(
    priceOf(promptTokens, 12_000),
  )
})

test('a grant that the balance no longer renews ends the stream with what was held', async () => {
  at = await startTestGateway({ credit: '0.0105' })
  const credit = at.balance()
  const { content, promptTokens } = prompt({ chunks: 2_000, tokensPerChunk: 10, gapMs: 6 })
  const first = await ask(content)
  // It pays for all that the model can say, so nothing is capped.
  expect(first.headers.get('x-max-tokens-capped')).toBeNull()
  // The rest of the balance, less than one more grant, is held by another request.
  const second = ask(prompt({ id: 'other', hangBeforeHead: true }).content, { max_tokens: 12_000 })
  const { done, words, ends } = await outcome(await first)
  expect(done).toBe(true)
  expect(ends).toMatchObject([
    { finish_reason: 'length', native_finish_reason: 'insufficient_credits' },
  ])
  expect(words).toBeGreaterThanOrEqual(4_096)
  expect(words).toBeLessThan(8_000)
  const charged = credit - at.balance()
  expect(charged + (await lossOf())).toBe(priceOf(promptTokens, words))
  await at.upstream.close()
  expect((await second).status).toBeGreaterThanOrEqual(500)
  expect(credit - at.balance()).toBe(charged)
})
