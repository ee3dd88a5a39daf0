import type { Model } from './model.ts'

/** All that is for sale, by model id. Read-only after start, save for a reload of the operator's own file. */
export interface Catalogue {
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
