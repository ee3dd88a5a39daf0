import type { ConfiguredProvider } from '../providers/configured-provider.ts'
import type { Price } from './price.ts'

/** One thing for sale: a provider's model at a price. */
export type Model = {
  /** `<provider>/<model_name>`, as the client writes it. */
  readonly id: string
  readonly name: string
  readonly provider: ConfiguredProvider
  /** The name sent to the provider. */
  readonly upstreamModel: string
  readonly price: Price
  /** Tokens; `null` where no source says. */
  readonly contextWindow: number | null
  readonly maxOutputTokens: number | null
  /** Spends output tokens on reasoning that the stream may not show, so a small grant would starve it. */
  readonly reasons: boolean
  /** Unix seconds; 0 where no source says. */
  readonly created: number
  readonly description: string | null
}
