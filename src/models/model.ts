import type { ConfiguredProvider } from '../providers/configured-provider.ts'
import type { Price } from './price.ts'

export type Modality = 'text' | 'image' | 'audio'

/** One thing for sale: a provider's model at a price. */
export type Model = {
  /** `<provider>/<model_name>`, as the client writes it. */
  readonly id: string
  readonly name: string
  readonly provider: ConfiguredProvider
  /** The name sent to the provider. */
  readonly upstreamModel: string
  readonly price: Price
  /** Tokens; `null` where no source says. The largest that one says, so that a hold covers it. */
  readonly contextWindow: number | null
  readonly maxOutputTokens: number | null
  /** All that is known; `null` where no source says. */
  readonly inputModalities: readonly Modality[] | null
  /** Likewise. */
  readonly outputModalities: readonly Modality[] | null
  readonly supportsTools: boolean | null
  /** Reasons, or can be asked to. */
  readonly supportsReasoning: boolean | null
  /** Spends output tokens on reasoning that the stream may not show, so a small grant would starve it. */
  readonly reasons: boolean
  /** Unix seconds; 0 where no source says. */
  readonly created: number
  readonly description: string | null
}
