import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, buildApp } from './app.ts'
import { type Books, openBooks } from './books.ts'
import { Dispatcher } from './chat/dispatch.ts'
import { InFlight } from './chat/in-flight.ts'
import type { ChatDeps } from './chat/route.ts'
import { TokenCounter } from './chat/token-counter.ts'
import { controlPathFor, openControl } from './cli/control.ts'
import type { Config, Environment } from './config.ts'
import { AccessTokens } from './egress/access-tokens.ts'
import { GuardedFetcher } from './egress/guarded-fetcher.ts'
import { Upstreams } from './egress/upstreams.ts'
import { GatewayError } from './errors.ts'
import { generationIds } from './ledger/generation-id.ts'
import { buildStock } from './models/build-catalogue.ts'
import { StockCatalogue } from './models/catalogue.ts'
import { loadPriceData, type PriceData } from './models/price-data.ts'
import { configureProviders } from './providers/configured-provider.ts'
import { readOperatorFile } from './providers/operator-file.ts'
import { providers } from './providers/registry.ts'
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
  const catalogue = new StockCatalogue(stockOf(config, env, prices))
  const upstreams = new Upstreams({ connections: config.maxConcurrentRequests })
  const fetcher = new GuardedFetcher()
  const tokenCounter = new TokenCounter()
  const clock = Date.now
  const inFlight = new InFlight(
    { total: config.maxConcurrentRequests, perKey: config.maxConcurrentRequestsPerKey },
    clock,
  )
  metrics.watch({
    inFlight: () => inFlight.count,
    openHolds: () => ledger.stats.openHolds,
    heldNanoUsd: () => ledger.stats.heldNanoUsd,
    ledgerQueued: () => ledger.stats.queued,
    ledgerAvailable: () => ledger.available,
    ledgerRefused: () => ledger.stats.refused,
  })
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
  const reload = () => catalogue.replace(stockOf(config, env, prices))
  const daily = setInterval(() => renewPrices(catalogue, reload, log), 60 * 60 * 1_000)

  const stop = async () => {
    clearInterval(daily)
    await drain(app, inFlight, config.drainTimeoutMs)
    await control.close()
    await app.close()
    await Promise.all([upstreams.close(), fetcher.close(), tokenCounter.close()])
    inFlight.close()
    await books.close()
  }
  return { app, url: urlOf(app), books, catalogue, inFlight, reload, stop }
}

const stockOf = (config: Config, env: Environment, prices: PriceData) => {
  const file = config.providersFile
    ? readOperatorFile(config.providersFile, providers, env)
    : undefined
  const known = [...providers, ...(file?.providers ?? [])]
  const configured = configureProviders(known, config.providers, config.upstreamTimeouts, file)
  return buildStock({ providers: configured, prices, file, nowMs: Date.now() })
}

/** Prices with an announced date take effect on that day, not at the next start. */
const renewPrices = (catalogue: StockCatalogue, reload: () => void, log: Log): void => {
  const due = catalogue.nextPriceChange
  if (due === null || due > new Date().toISOString().slice(0, 10)) return
  try {
    reload()
    log.info('prices renewed')
  } catch (error) {
    log.error({ err: error }, 'prices not renewed: the providers file is not usable')
  }
}

/** How long connections are still taken, so that a load balancer can see `/ready` turn before they are refused. */
const refusalWindowMs = 1_000
/** What an interrupted answer gets to say so and settle. */
const lastWordsMs = 2_000

const drain = async (app: App, inFlight: InFlight, timeoutMs: number): Promise<void> => {
  const deadlineMs = Date.now() + timeoutMs
  inFlight.drain()
  await sleep(Math.min(refusalWindowMs, timeoutMs / 5))
  app.server.close()
  await emptied(inFlight, deadlineMs)
  inFlight.interruptAll(
    new GatewayError('draining', 'The gateway is stopping; this answer was cut short.'),
  )
  await emptied(inFlight, Date.now() + lastWordsMs)
  app.server.closeAllConnections()
}

const emptied = async (inFlight: InFlight, deadlineMs: number): Promise<void> => {
  while (inFlight.count > 0 && Date.now() < deadlineMs) await sleep(20)
}

const urlOf = (app: App): string => {
  // `as`: a listening TCP server has such an address.
  const { address, family, port } = app.server.address() as AddressInfo
  const host = family === 'IPv6' ? `[${address}]` : address
  return `http://${host === '0.0.0.0' || host === '[::]' ? 'localhost' : host}:${port}`
}
