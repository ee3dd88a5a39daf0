import type { Books } from './books.ts'
import { audit } from './ledger/audit.ts'
import type { StockCatalogue } from './models/catalogue.ts'
import type { Log } from './telemetry/log.ts'

type ChoresDeps = { books: Books; catalogue: StockCatalogue; reload: () => void; log: Log }

const hourMs = 60 * 60 * 1_000

/** What a gateway does every hour by itself. Returns what ends it. */
export const startChores = (deps: ChoresDeps): (() => void) => {
  const timer = setInterval(() => {
    renewPrices(deps)
    void auditBooks(deps)
  }, hourMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Prices with an announced date take effect on that day, not at the next start. */
const renewPrices = ({ catalogue, reload, log }: ChoresDeps): void => {
  const due = catalogue.nextPriceChange
  if (due === null || due > new Date().toISOString().slice(0, 10)) return
  try {
    reload()
    log.info('prices renewed')
  } catch (error) {
    log.error({ err: error }, 'prices not renewed: the providers file is not usable')
  }
}

/** On a thread of its own, against one moment of the database: requests don't notice. */
const auditBooks = async ({ books, log }: ChoresDeps): Promise<void> => {
  try {
    const findings = await audit(books.db, { atWork: true })
    if (findings.length > 0) log.fatal({ findings }, 'the audit found the money wrong')
  } catch (error) {
    log.error({ err: error }, 'the audit could not run')
  }
}
