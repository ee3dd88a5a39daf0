import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import { authenticate } from '../accounts/authenticate.ts'
import type { KeyRing } from '../accounts/keys.ts'
import { toGatewayError } from '../errors.ts'
import type { Caller } from '../ledger/receipt.ts'
import type { Catalogue } from '../models/catalogue.ts'
import { refuseUnsupported } from '../models/refuse-unsupported.ts'
import { type AdmitDeps, admit } from './admit.ts'
import { Client } from './client.ts'
import { conceal } from './conceal.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Generation } from './generation.ts'
import type { InFlight } from './in-flight.ts'
import { receiveChat } from './request.ts'
import { StreamRelay } from './stream-relay.ts'
import { WholeRelay } from './whole-relay.ts'

export type ChatDeps = AdmitDeps & {
  keyRing: KeyRing
  accounts: Accounts
  /** The one in force; the operator's file can be reloaded. */
  catalogue: () => Catalogue
  dispatcher: Dispatcher
  inFlight: InFlight
  bodyLimitBytes: number
  keepAliveMs: number
}

/**
 * POST /chat/completions, told in order:
 *
 *   authenticate → receive → resolve → admit → dispatch → relay → settle
 *
 * Everything above the hold that `admit` takes may fail for free. Everything below it reaches `settle`, however the
 * request ends.
 */
export const chatRoute = (app: FastifyInstance, deps: ChatDeps): void => {
  const { keyRing, accounts, catalogue, dispatcher, inFlight, bodyLimitBytes, clock } = deps

  // The body is read by the handler, after the key is known to be good: a stranger can't make us hold 10 MiB.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  app.post('/chat/completions', async (request, reply) => {
    inFlight.requireRoom()
    const key = authenticate(request.headers.authorization, keyRing, accounts, clock())
    inFlight.enter(key.id)
    try {
      const received = await receiveChat(request.raw, bodyLimitBytes)
      const model = catalogue().resolve(received.chat.model)
      refuseUnsupported(received.chat, model)
      const generation = admit(deps, { key, received, model, caller: callerOf(request) })
      request.generation = generation
      return await serve(reply, generation)
    } finally {
      inFlight.leave(key.id)
    }
  })

  const serve = async (reply: FastifyReply, generation: Generation): Promise<void> => {
    const client = new Client(reply)
    const relay = generation.chat.stream
      ? new StreamRelay(client, generation, deps, clock)
      : new WholeRelay(client, generation)
    inFlight.watch(relay)
    try {
      const call = await dispatcher.dispatch(generation, client, relay)
      return await relay.run(call)
    } catch (thrown) {
      if (!client.gone) {
        const { apiKeys } = generation.model.provider
        return await relay.fail(conceal(toGatewayError(thrown), apiKeys))
      }
      await generation.settle({ error: 'client_closed_request', onCommitFailure: 'keep' })
      // Nobody is there to be answered.
      reply.hijack()
    } finally {
      inFlight.unwatch(relay)
      // Reached in any case; the first settle decided.
      await generation.settle({ error: 'internal_error', onCommitFailure: 'void' })
    }
  }
}

/** Longest header value kept with a generation. */
const callerFieldLength = 256

const callerOf = ({ headers, ip }: FastifyRequest): Caller => ({
  address: ip,
  referer: cut(headers['http-referer'] ?? headers.referer),
  title: cut(headers['x-title']),
  userAgent: cut(headers['user-agent']),
})

const cut = (value: string | string[] | undefined): string | null => {
  const text = Array.isArray(value) ? value[0] : value
  return text ? text.slice(0, callerFieldLength) : null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the data plane once the request is admitted; read by the request log. */
    generation: Generation | null
  }
}
