import type { Config, Environment } from './config.ts'
import { buildStock } from './models/build-catalogue.ts'
import type { PriceData } from './models/price-data.ts'
import { configureProviders } from './providers/configured-provider.ts'
import { readOperatorFile } from './providers/operator-file.ts'
import { providers } from './providers/registry.ts'

/** What is for sale with these settings, and of whom. Raises `OperatorFileError`. */
export const readStock = (config: Config, env: Environment, prices: PriceData) => {
  const { providersFile, upstreamTimeouts } = config
  const file = providersFile ? readOperatorFile(providersFile, providers, env) : undefined
  const known = [...providers, ...(file?.providers ?? [])]
  const configured = configureProviders(known, config.providers, upstreamTimeouts, file)
  const stock = buildStock({ providers: configured, prices, file, nowMs: Date.now() })
  return { file, providers: configured, stock }
}
