/**
 * What is for sale. A look-up in a map made at start; only a name that isn't in it costs more. It doesn't say which of
 * several models to take: that is routing.
 */
import { GatewayError } from '../errors.ts'
import type { Model } from './model.ts'
import { nearestNames } from './nearest-names.ts'

/** All that is for sale, by model id. Read-only after start, save for a reload of the operator's own file. */
export interface Catalogue {
  /** Grows when the models are replaced; what was derived from them holds until then. */
  readonly revision: number
  /**
   * Raises `invalid_model_id` for an id without a provider, `model_not_found` (with the nearest names) for one that is
   * unknown, unpriced, or whose provider has no credential (that reason goes to the log only).
   */
  resolve(modelId: string): Model
  /** For listing, unlike `resolve` also what is not available; `undefined` where unknown. */
  find(modelId: string): Model | undefined
  list(filter?: ModelFilter): Model[]
}

export type ModelFilter = {
  provider?: string
  /** Words that must all occur in id or name, in any case. */
  query?: string
  /** Also those whose provider has no credential. */
  all?: boolean
}

/** What a catalogue is made of. */
export type Stock = {
  /** Those that are listed. */
  readonly models: readonly Model[]
  /** Other ids that are answered, by id. */
  readonly aliases: ReadonlyMap<string, Model>
  /** A dated name of a model, such as `…-2025-08-07`, that the list doesn't have. */
  snapshot(modelId: string): Model | undefined
  /** The day (ISO, UTC) from which a known price changes, so that the stock should be made anew. */
  readonly nextPriceChange: string | null
}

/** Dated names seen so far; more are looked up anew. */
const maxSnapshots = 1000

const routingSuffix = /:(floor|nitro)$/

const malformed = /^[^/]*$|^\/|\/$|\p{Cc}/u

export class StockCatalogue implements Catalogue {
  #stock: Stock
  #byId = new Map<string, Model>()
  #snapshots = new Map<string, Model>()
  #nearest: (wrong: string) => string[] = () => []
  #revision = 0

  constructor(stock: Stock) {
    this.#stock = stock
    this.replace(stock)
  }

  get revision(): number {
    return this.#revision
  }

  /** The day (ISO, UTC) from which a known price changes, `null` where none is announced. */
  get nextPriceChange(): string | null {
    return this.#stock.nextPriceChange
  }

  /** Takes another stock from now on; requests already resolved keep what they have. */
  replace(stock: Stock): void {
    const byId = new Map(stock.aliases)
    for (const model of stock.models) byId.set(model.id, model)
    this.#revision++
    this.#stock = stock
    this.#byId = byId
    this.#snapshots = new Map()
    this.#nearest = nearestNames(stock.models.filter(isAvailable).map(({ id }) => id))
  }

  resolve(modelId: string): Model {
    const model = this.#byId.get(modelId) ?? this.find(modelId)
    if (model?.provider.available) return model
    throw this.#refusal(modelId, model)
  }

  find(modelId: string): Model | undefined {
    const id = modelId.replace(routingSuffix, '')
    return this.#byId.get(id) ?? this.#snapshots.get(id) ?? this.#findSnapshot(id)
  }

  list({ provider, query = '', all = false }: ModelFilter = {}): Model[] {
    const words = query.toLowerCase().split(/\s+/)
    return this.#stock.models.filter(model => {
      if (!all && !isAvailable(model)) return false
      if (provider !== undefined && model.provider.provider.id !== provider) return false
      const text = `${model.id} ${model.name}`.toLowerCase()
      return words.every(word => text.includes(word))
    })
  }

  #findSnapshot(id: string): Model | undefined {
    const model = this.#stock.snapshot(id)
    if (model === undefined) return undefined
    if (this.#snapshots.size >= maxSnapshots) this.#snapshots.clear()
    this.#snapshots.set(id, model)
    return model
  }

  #refusal(modelId: string, found: Model | undefined): GatewayError {
    const shown = modelId.replace(/\p{Cc}/gu, '').slice(0, 128)
    if (malformed.test(modelId)) {
      const message = `"${shown}" is not a model id. Write <provider>/<model_name>, such as those of GET /models.`
      return new GatewayError('invalid_model_id', message, { param: 'model' })
    }
    const nearest = this.#nearest(modelId.replace(routingSuffix, ''))
    const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : ''
    return new GatewayError('model_not_found', `There is no model "${shown}" here.${hint}`, {
      param: 'model',
      metadata: { nearest },
      ...(found ? { internal: whyNotAvailable(found) } : {}),
    })
  }
}

const isAvailable = (model: Model): boolean => model.provider.available

const whyNotAvailable = ({ id, provider: { provider, apiKeys } }: Model): string => {
  const { apiKeyEnv } = provider
  const missing =
    apiKeyEnv !== null && apiKeys.length === 0 ? apiKeyEnv : `the base URL of ${provider.id}`
  return `${id} is in the catalogue, but ${missing} is not set`
}
