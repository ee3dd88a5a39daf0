/** What a second source says of each model, joined when it was last updated. See `src/cli/update-models.ts`. */
import { readFileSync } from 'node:fs'

/** One model, by its id. What is left out, nobody says. */
export type Facts = {
  /** The longest prompt and answer together, in tokens. */
  readonly context?: number
  /** The longest answer, in tokens. */
  readonly output?: number
  /** Takes images. Stands only where the provider's own list says so, or all other providers' do that it does. */
  readonly image?: boolean
  readonly tools?: boolean
  /** `asked`: only when a request wants it. */
  readonly reasoning?: 'never' | 'asked' | 'always'
  /** Input and output, USD per million tokens, in force at the last update: what the next one is held against. */
  readonly price?: readonly [input: string, output: string]
  /** Present where the second source's price is the one that counts. */
  readonly sold?: SoldFacts
}

export type SoldFacts = {
  readonly title: string
  /** Ascending; the first is for any prompt. */
  readonly tiers: readonly [FactsTier, ...FactsTier[]]
}

/** USD per million tokens, as decimal strings. */
export type FactsTier = {
  readonly above: number
  readonly input: string
  readonly output: string
  readonly cacheRead?: string
  readonly cacheWrite?: string
}

export type ModelFacts = {
  /** Names the second source, as a price's version does: `pi-ai@1.5.2`. */
  readonly version: string
  readonly models: Readonly<Record<string, Facts>>
}

export const noFacts: ModelFacts = { version: '', models: {} }

export const modelFactsFile = new URL('model-facts.json', import.meta.url)

/** The generated file. */
export const loadModelFacts = (): ModelFacts =>
  // `as`: the update wrote it, and a test holds it to this type.
  JSON.parse(readFileSync(modelFactsFile, 'utf8')) as ModelFacts
