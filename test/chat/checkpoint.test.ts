/** The durable evidence of a stream while it runs: what a crash would be settled at. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countedPrompt } from '../counted-prompt.ts'
import { startTestGateway, type TestGateway, testModel } from '../harness.ts'
import type { ScriptInput } from '../upstream/scripted-upstream.ts'

let at: TestGateway

beforeAll(async () => {
  at = await startTestGateway()
})
afterAll(() => at.close())

type Line = {
  state: string
  completion_tokens: number
  price_nano_usd: bigint
  charge_nano_usd: bigint
}

const lineOf = async (generationId: string | null): Promise<Line | undefined> => {
  const [line] = await at.gateway.books.db.read<Line>(
    'SELECT state, completion_tokens, price_nano_usd, charge_nano_usd FROM generations WHERE id = ?',
    [generationId],
  )
  return line
}

test.each<[string, ScriptInput]>([
  ['after its first second', { chunks: 200, gapMs: 40 }],
  ['after a thousand tokens', { chunks: 600, tokensPerChunk: 40, gapMs: 10 }],
])(
  'a stream leaves evidence %s, never above what was sent, and charges at its end',
  async (_, wanted) => {
    const before = at.balance()
    const { content, promptTokens } = countedPrompt({ id: _, ...wanted })
    const response = await at.chat({ stream: true, messages: [{ role: 'user', content }] })
    const id = response.headers.get('x-generation-id')
    const whole = response.text()
    await expect.poll(() => lineOf(id), { timeout: 10_000 }).toBeDefined()
    const { state, completion_tokens: tokens = 0, ...money } = (await lineOf(id)) ?? {}
    expect(state).toBe('running')
    expect(tokens).toBeGreaterThan(0)
    expect(tokens).toBeLessThanOrEqual(at.upstream.request(_).tokensProduced)
    const price =
      BigInt(promptTokens) * testModel.inputNanoUsd + BigInt(tokens) * testModel.outputNanoUsd
    expect(money).toEqual({ price_nano_usd: price, charge_nano_usd: 0n })
    // Evidence is not a charge: the balance in memory still holds for the whole.
    expect(at.balance()).toBe(before)

    expect(await whole).toContain('[DONE]')
    const settled = await lineOf(id)
    expect(settled?.state).toBe('settled')
    expect(before - at.balance()).toBe(settled?.charge_nano_usd)
  },
)
