/**
 * What an API key may ask about its account, and anybody about the models. It reads; it never makes, changes or lists
 * keys, and moves no money.
 */
import type { FastifyInstance } from 'fastify'
import type { ErrorCode } from '../errors.ts'
import type { History } from '../ledger/history.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Operation } from '../wire/operation.ts'
import { AccountAccess } from './account-access.ts'
import { creditsRoute, getCredits } from './credits.ts'
import { generationRoute, getGeneration } from './generation.ts'
import { getKey, keyRoute } from './key.ts'
import { type ModelSource, ModelTexts } from './model-texts.ts'
import { getModel, listModels, modelsRoutes } from './models.ts'

export type AccountApiDeps = ConstructorParameters<typeof AccountAccess>[0] &
  ModelSource & { ledger: Ledger; history: History }

/** Made once, so that both prefixes share what is kept. */
export const accountRoutes = (deps: AccountApiDeps): ((app: FastifyInstance) => void) => {
  const modelTexts = new ModelTexts(deps)
  const access = new AccountAccess(deps)
  return app => {
    modelsRoutes(app, deps.catalogue, modelTexts)
    keyRoute(app, access, deps.history)
    creditsRoute(app, access, deps)
    generationRoute(app, access, deps.history)
  }
}

/** All of them, as they are described. */
export const accountOperations: readonly Operation<ErrorCode>[] = [
  listModels,
  getModel,
  getKey,
  getCredits,
  getGeneration,
]
