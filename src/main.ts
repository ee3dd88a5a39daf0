/** Starts a gateway in this process and stops it on a signal. */
import { ConfigError, loadConfig, readEnvironment } from './config.ts'
import { DatabaseError } from './db/database-error.ts'
import { welcomeFirstAccount, welcomeText } from './first-start.ts'
import { type Gateway, openGateway } from './gateway.ts'
import { OperatorFileError } from './providers/operator-file.ts'
import { providers } from './providers/registry.ts'
import { createLog, flushLog } from './telemetry/log.ts'

const start = async (): Promise<void> => {
  // Before anything is open: a signal during the start waits for its end instead of cutting it.
  const stopping = firstSignal()
  const env = readEnvironment()
  const config = loadConfig(
    env,
    providers.map(({ id }) => id),
  )
  const log = createLog(config.logLevel)
  const gateway = await openGateway(config, env, log)
  const baseUrl = `${config.publicUrl ?? gateway.url}/v1`
  const { recovered } = gateway.books.ledger
  if (recovered > 0) log.warn({ recovered }, 'settled what a crash had left running')

  // With NODE_ENV=production nothing is given away.
  const key = config.nodeEnv === 'production' ? null : await welcomeFirstAccount(gateway.books)
  process.stdout.write(key ? welcomeText(baseUrl, key) : `\nTollgate is ready: ${baseUrl}\n\n`)
  log.info({ baseUrl, models: gateway.catalogue.list().length }, 'listening')

  process.on('SIGHUP', () => reload(gateway, log))
  const signal = await stopping
  log.info({ signal, inFlight: gateway.inFlight.count }, 'stopping')
  await gateway.stop()
  log.info('stopped')
  await flushLog(log)
  process.exit(0)
}

/** The first signal to stop; a second one stops at once, and recovery settles the rest at the next start. */
const firstSignal = (): Promise<string> =>
  new Promise(resolve => {
    let stopping = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1)
        stopping = true
        resolve(signal)
      })
    }
  })

const reload = (gateway: Gateway, log: ReturnType<typeof createLog>): void => {
  try {
    gateway.reload()
    log.info({ models: gateway.catalogue.list().length }, 'providers file read again')
  } catch (error) {
    log.error({ err: error }, 'the providers file is not usable; all stays as it was')
  }
}

/** What the operator can mend is said in a sentence; anything else with its stack. */
const fail = (error: unknown): never => {
  process.stderr.write(`Tollgate stops.\n${explain(error)}\n`)
  process.exit(1)
}

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof ConfigError || error instanceof OperatorFileError) return error.message
  if (error instanceof DatabaseError) return error.message
  if ('syscall' in error && error.syscall === 'listen') {
    return `Can't listen: ${error.message}. Set HOST and PORT to an address that is free.`
  }
  return error.stack ?? error.message
}

start().catch(fail)
