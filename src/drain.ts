import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from './app.ts'
import type { InFlight } from './chat/in-flight.ts'
import { GatewayError } from './errors.ts'

/** How long connections are still taken, so that a load balancer can see `/ready` turn before they are refused. */
const refusalWindowMs = 1_000
/** What an interrupted answer gets to say so and settle. */
const lastWordsMs = 2_000

/** Lets what is under way end, for at most `timeoutMs`, and cuts the rest short with an error that says so. */
export const drain = async (app: App, inFlight: InFlight, timeoutMs: number): Promise<void> => {
  const deadlineMs = Date.now() + timeoutMs
  inFlight.drain()
  await sleep(Math.min(refusalWindowMs, timeoutMs / 5))
  app.server.close()
  await emptied(inFlight, deadlineMs)
  inFlight.interruptAll(
    new GatewayError('draining', 'The gateway is stopping; this answer was cut short.'),
  )
  await emptied(inFlight, Date.now() + lastWordsMs)
  app.server.closeAllConnections()
}

const emptied = async (inFlight: InFlight, deadlineMs: number): Promise<void> => {
  while (inFlight.count > 0 && Date.now() < deadlineMs) await sleep(20)
}
