import { GatewayError } from '../errors.ts'

/** Shorter ones are words such as `none` that servers of one's own take for a key. */
const leastSecretLength = 8
const mark = '[removed]'

/** `"…"`, `'…'`, `` `…` ``, the last perhaps cut off; an apostrophe inside a word opens none. */
const quoted = /"[^"]*(?:"|$)|`[^`]*(?:`|$)|(?<!\w)'[^']*(?:'(?!\w)|$)/g

/**
 * The failure without what a provider may echo: its credential, which only we can recognise for one, anywhere; and in
 * what the log gets, whatever it quotes, since that may be a message's content.
 */
export const conceal = (error: GatewayError, credentials: readonly string[]): GatewayError => {
  // Some are several in one, `ID:SECRET`, and a provider would quote one of them.
  const secrets = credentials
    .flatMap(credential => [credential, ...credential.split(':')])
    .filter(({ length }) => length >= leastSecretLength)
  const without = (text: string): string =>
    secrets.reduce((clean, secret) => clean.replaceAll(secret, mark), text)
  const message = without(error.message)
  const param = error.param && without(error.param)
  const internal = error.internal && without(error.internal).replace(quoted, mark)
  if (message === error.message && param === error.param && internal === error.internal)
    return error
  return new GatewayError(error.code, message, {
    headers: error.headers,
    ...(param ? { param } : {}),
    ...(internal ? { internal } : {}),
    ...(error.metadata ? { metadata: error.metadata } : {}),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  })
}
