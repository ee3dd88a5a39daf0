import { loadConfig, readEnvironment } from '../config.ts'
import { buildStock } from '../models/build-catalogue.ts'
import { StockCatalogue } from '../models/catalogue.ts'
import { loadPriceData } from '../models/price-data.ts'
import { configureProviders } from '../providers/configured-provider.ts'
import { readOperatorFile } from '../providers/operator-file.ts'
import { providers } from '../providers/registry.ts'

/** What a gateway with these settings would sell, and of whom; no database is needed. Raises as a start would. */
export const readCatalogue = async () => {
  const env = readEnvironment()
  const ids = providers.map(({ id }) => id)
  const config = loadConfig(env, ids)
  const prices = await loadPriceData()
  const { providersFile, upstreamTimeouts } = config
  const file = providersFile ? readOperatorFile(providersFile, providers, env) : undefined
  const known = [...providers, ...(file?.providers ?? [])]
  const configured = configureProviders(known, config.providers, upstreamTimeouts, file)
  const stock = buildStock({ providers: configured, prices, file, nowMs: Date.now() })
  return { config, file, providers: configured, catalogue: new StockCatalogue(stock) }
}
