import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Provider as PriceList, waitForUpdate } from '@pydantic/genai-prices'
import { loadModelFacts, type ModelFacts } from './model-facts.ts'

/** What genai-prices publishes, as it is bundled: never fetched, so that a price changes only with a release. */
export type PriceData = {
  readonly version: string
  readonly lists: readonly PriceList[]
  /** What it does not say, and what was known of each model at the last `npm run models:update`. */
  readonly facts: ModelFacts
}

export const loadPriceData = async (): Promise<PriceData> => {
  // The package doesn't export its package.json, so look beside its code.
  const code = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(code, '../../package.json'), 'utf8'),
  )
  const lists = await waitForUpdate()
  if (!lists?.length) throw new Error('genai-prices has no bundled prices')
  return { version: `genai-prices@${version}`, lists, facts: loadModelFacts() }
}
