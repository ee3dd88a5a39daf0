import { loadConfig, readEnvironment } from '../config.ts'
import { StockCatalogue } from '../models/catalogue.ts'
import { loadPriceData } from '../models/price-data.ts'
import { providers } from '../providers/registry.ts'
import { readStock } from '../stock.ts'

/** What a gateway with these settings would sell, and of whom; no database is needed. Raises as a start would. */
export const readCatalogue = async () => {
  const env = readEnvironment()
  const ids = providers.map(({ id }) => id)
  const config = loadConfig(env, ids)
  const { stock, ...of } = readStock(config, env, await loadPriceData())
  return { config, ...of, catalogue: new StockCatalogue(stock) }
}
