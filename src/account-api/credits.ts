import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import type { History } from '../ledger/history.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { formatUsd } from '../ledger/money.ts'
import type { Operation } from '../wire/operation.ts'
import { type AccountAccess, accessRefusals } from './account-access.ts'
import { usd } from './fields.ts'

const CreditsSchema = z.object({
  balance: usd('What the account owns.'),
  held: usd('Set aside for requests under way.'),
  available: usd('What the next request can spend: `balance` less `held`.'),
  total_credits: usd('All that was ever credited: top-ups, refunds, adjustments.'),
  total_usage: usd('All that was ever charged.'),
})

export const getCredits: Operation<ErrorCode> = {
  id: 'getCredits',
  method: 'get',
  path: '/credits',
  group: 'Account',
  title: 'Read the balance',
  description:
    'The account that the key belongs to. A charge is in the balance before the response it pays for has ended.',
  auth: 'apiKey',
  answer: {
    description: 'The balance of the account.',
    contentType: 'application/json',
    shape: { name: 'Credits', schema: CreditsSchema },
    example: {
      balance: '24.9873512',
      held: '0.0024',
      available: '24.9849512',
      total_credits: '25',
      total_usage: '0.0126488',
    },
  },
  refusals: accessRefusals,
}

export const creditsRoute = (
  app: FastifyInstance,
  access: AccountAccess,
  { ledger, history }: { ledger: Ledger; history: History },
): void => {
  const creditsOf = async (accountId: string): Promise<z.infer<typeof CreditsSchema>> => {
    const totals = await history.totalsOfAccount(accountId)
    const { balanceNanoUsd, heldNanoUsd, availableNanoUsd } = ledger.snapshot(accountId)
    return {
      balance: formatUsd(balanceNanoUsd),
      held: formatUsd(heldNanoUsd),
      available: formatUsd(availableNanoUsd),
      total_credits: formatUsd(totals.creditedNanoUsd),
      total_usage: formatUsd(totals.chargedNanoUsd),
    }
  }
  app.get('/credits', request =>
    access.withKey(request.headers.authorization, ({ accountId }) => creditsOf(accountId)),
  )
}
