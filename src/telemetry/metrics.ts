import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { Tally } from './tally.ts'

export type GenerationFacts = {
  usage: { tokens: Record<string, number | undefined> }
  chargeNanoUsd: bigint
  ttftMs: number | null
  attempts: readonly { provider: string; error: string | null }[]
}

/** Read when somebody asks; each is a plain figure that its owner keeps anyway. */
export type MetricSources = {
  inFlight: () => number
  openHolds: () => number
  heldNanoUsd: () => bigint
  ledgerQueued: () => number
  ledgerAvailable: () => boolean
  ledgerRefused: () => number
}

const latencySeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

/** What Prometheus reads. Names a model, a provider, a route or a code, never a key, a person or a text. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Tally<'route' | 'status'>
  readonly #refusals: Tally<'code'>
  readonly #duration: Histogram<'route'>
  readonly #ttft: Histogram<'provider'>
  readonly #tokens: Tally<'model' | 'class'>
  readonly #charged: Tally<'model'>
  readonly #attempts: Tally<'provider' | 'result'>
  readonly #commit: Histogram
  readonly #commits: Counter

  constructor() {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Tally({
      name: 'tollgate_requests_total',
      help: 'Requests by route and status.',
      labelNames: ['route', 'status'],
      registers,
    })
    this.#refusals = new Tally({
      name: 'tollgate_errors_total',
      help: 'Requests refused or failed, by code of the catalogue.',
      labelNames: ['code'],
      registers,
    })
    this.#duration = new Histogram({
      name: 'tollgate_request_duration_seconds',
      help: 'From the request to the last byte.',
      labelNames: ['route'],
      buckets: latencySeconds,
      registers,
    })
    this.#ttft = new Histogram({
      name: 'tollgate_ttft_seconds',
      help: 'Time to the first token of a stream.',
      labelNames: ['provider'],
      buckets: latencySeconds,
      registers,
    })
    this.#tokens = new Tally({
      name: 'tollgate_tokens_total',
      help: 'Tokens by model and class.',
      labelNames: ['model', 'class'],
      registers,
    })
    this.#charged = new Tally({
      name: 'tollgate_charged_usd_total',
      help: 'Charged, in USD, for display: the ledger has the exact sum.',
      labelNames: ['model'],
      registers,
    })
    this.#attempts = new Tally({
      name: 'tollgate_upstream_attempts_total',
      help: 'Calls to providers by result (ok, or a code of the catalogue).',
      labelNames: ['provider', 'result'],
      registers,
    })
    this.#commit = new Histogram({
      name: 'tollgate_ledger_commit_seconds',
      help: 'From the hand-over of a batch to its durable commit.',
      buckets: commitSeconds,
      registers,
    })
    this.#commits = new Counter({
      name: 'tollgate_ledger_settles_total',
      help: 'Settles committed.',
      registers,
    })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Registers the figures that are read on demand. Called once. */
  watch(sources: MetricSources): void {
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        collect() {
          this.set(read())
        },
      })
    gauge('tollgate_requests_in_flight', 'Requests under way.', sources.inFlight)
    gauge('tollgate_holds_open', 'Open holds.', sources.openHolds)
    gauge('tollgate_held_usd', 'Held, in USD.', () => Number(sources.heldNanoUsd()) / 1e9)
    gauge('tollgate_ledger_queued', 'Settles waiting for a commit.', sources.ledgerQueued)
    gauge('tollgate_ledger_available', '1 while the ledger can commit.', () =>
      sources.ledgerAvailable() ? 1 : 0,
    )
    gauge(
      'tollgate_ledger_refused',
      'Settles refused for good; above 0 run "tollgate audit".',
      sources.ledgerRefused,
    )
  }

  observeRequest(route: string, status: number, code: string | null, durationMs: number): void {
    this.#requests.add(`${route} ${status}`, () => ({ route, status: String(status) }))
    this.#duration.observe({ route }, durationMs / 1_000)
    if (code) this.#refusals.add(code, () => ({ code }))
  }

  observeGeneration(model: string, provider: string, facts: GenerationFacts): void {
    const { usage, chargeNanoUsd, ttftMs, attempts } = facts
    for (const name in usage.tokens) {
      const count = usage.tokens[name]
      if (count) this.#tokens.add(`${name} ${model}`, () => ({ model, class: name }), count)
    }
    if (chargeNanoUsd > 0n) this.#charged.add(model, () => ({ model }), Number(chargeNanoUsd) / 1e9)
    if (ttftMs !== null) this.#ttft.observe({ provider }, ttftMs / 1_000)
    for (const { provider: tried, error } of attempts) {
      const result = error ?? 'ok'
      this.#attempts.add(`${tried} ${result}`, () => ({ provider: tried, result }))
    }
  }

  observeCommit(durationMs: number, settles: number): void {
    this.#commit.observe(durationMs / 1_000)
    this.#commits.inc(settles)
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}
