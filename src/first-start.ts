import type { Books } from './books.ts'

/** USD given to the first account, so that a first try can be paid. */
const welcomeCreditNanoUsd = 1_000_000_000n

/**
 * Makes an account with a little credit and a key where there is none yet. The key is returned once and kept nowhere;
 * `null` where an account exists.
 */
export const welcomeFirstAccount = async ({
  accounts,
  keyRing,
  ledger,
}: Books): Promise<string | null> => {
  if (accounts.list().length > 0) return null
  const account = await accounts.create({ name: 'First account' })
  ledger.open(account.id)
  await ledger.credit({
    accountId: account.id,
    amountNanoUsd: welcomeCreditNanoUsd,
    reference: 'welcome',
    note: 'For a first try',
  })
  const { key } = await keyRing.create({ accountId: account.id, name: 'First key' })
  return key
}

/** What a newcomer reads: where it is, the key, and a line to paste. Printed, never logged. */
export const welcomeText = (baseUrl: string, key: string): string => `
Tollgate is ready.

  Base URL   ${baseUrl}
  API key    ${key}
             Shown this once. Its account has $1.00 to try with.

Try it (no provider is needed for the demo models):

curl -N ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "demo/tollgate", "stream": true, "messages": [{"role": "user", "content": "Hello!"}]}'

`
