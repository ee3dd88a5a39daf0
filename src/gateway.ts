import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type App, buildApp } from './app.ts'
import { type Books, openBooks } from './books.ts'
import { Dispatcher } from './chat/dispatch.ts'
import { InFlight } from './chat/in-flight.ts'
import type { ChatDeps } from './chat/route.ts'
import { TokenCounter } from './chat/token-counter.ts'
import { startChores } from './chores.ts'
import { controlPathFor, openControl } from './cli/control.ts'
import type { Config, Environment } from './config.ts'
import { drain } from './drain.ts'
import { AccessTokens } from './egress/access-tokens.ts'
import { GuardedFetcher } from './egress/guarded-fetcher.ts'
import { Upstreams } from './egress/upstreams.ts'
import { generationIds } from './ledger/generation-id.ts'
import type { Ledger } from './ledger/ledger.ts'
import { StockCatalogue } from './models/catalogue.ts'
import { loadPriceData } from './models/price-data.ts'
import { readStock } from './stock.ts'
import type { Log } from './telemetry/log.ts'
import { Metrics } from './telemetry/metrics.ts'

/** One gateway, listening. */
export type Gateway = {
  app: App
  /** `http://HOST:PORT`, as it really listens. */
  url: string
  books: Books
  catalogue: StockCatalogue
  inFlight: InFlight
  /** Reads the operator's providers file again. Raises `OperatorFileError`; then all stays as it was. */
  reload: () => void
  /** Lets what is under way end, for at most `drainTimeoutMs`; then everything is settled and closed. */
  stop: () => Promise<void>
}

/** Wires all parts together, in the order in which they depend on each other, and listens. */
export const openGateway = async (config: Config, env: Environment, log: Log): Promise<Gateway> => {
  const metrics = new Metrics()
  const [books, prices] = await Promise.all([
    openBooks({
      ...config,
      onCommit: (durationMs, settles) => metrics.observeCommit(durationMs, settles),
    }),
    loadPriceData(),
  ])
  const { ledger, accounts, keyRing } = books
  const catalogue = new StockCatalogue(readStock(config, env, prices).stock)
  const upstreams = new Upstreams({ connections: config.maxConcurrentRequests })
  const fetcher = new GuardedFetcher()
  const tokenCounter = new TokenCounter()
  const clock = Date.now
  const inFlight = new InFlight(
    { total: config.maxConcurrentRequests, perKey: config.maxConcurrentRequestsPerKey },
    clock,
  )
  watchMetrics(metrics, inFlight, ledger)
  const chat: ChatDeps = {
    ledger,
    accounts,
    keyRing,
    catalogue: () => catalogue,
    dispatcher: new Dispatcher({
      upstreams,
      fetcher,
      clock,
      tokens: new AccessTokens(upstreams, clock),
    }),
    tokenCounter,
    inFlight,
    nextGenerationId: generationIds(clock, randomBytes),
    clock,
    markupBasisPoints: config.markupBasisPoints,
    topUpUrl: config.topUpUrl,
    bodyLimitBytes: config.bodyLimitBytes,
    keepAliveMs: config.keepAliveIntervalMs,
  }
  const { app } = await buildApp({
    settings: config,
    chat,
    history: books.history,
    health: { ready: () => !inFlight.draining && ledger.available },
    log,
    metrics,
  })
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (error) {
    await books.close()
    throw error
  }
  const control = await openControl({ path: controlPathFor(config.databasePath), books })
  const reload = () => catalogue.replace(readStock(config, env, prices).stock)
  const endChores = startChores({ books, catalogue, reload, log })

  const stop = async () => {
    endChores()
    await drain(app, inFlight, config.drainTimeoutMs)
    await control.close()
    await app.close()
    await Promise.all([upstreams.close(), fetcher.close(), tokenCounter.close()])
    inFlight.close()
    await books.close()
  }
  return { app, url: urlOf(app), books, catalogue, inFlight, reload, stop }
}

const watchMetrics = (metrics: Metrics, inFlight: InFlight, ledger: Ledger): void => {
  metrics.watch({
    inFlight: () => inFlight.count,
    openHolds: () => ledger.stats.openHolds,
    heldNanoUsd: () => ledger.stats.heldNanoUsd,
    ledgerQueued: () => ledger.stats.queued,
    ledgerAvailable: () => ledger.available,
    ledgerRefused: () => ledger.stats.refused,
  })
}

const urlOf = (app: App): string => {
  // `as`: a listening TCP server has such an address.
  const { address, family, port } = app.server.address() as AddressInfo
  const host = family === 'IPv6' ? `[${address}]` : address
  return `http://${host === '0.0.0.0' || host === '[::]' ? 'localhost' : host}:${port}`
}
