import pino from 'pino'

export type Log = pino.Logger

/**
 * JSON lines on `destination` (default: standard output), written off the event loop. No secret and no message content
 * is ever handed to it; what could carry one by accident is cut here as the last line of defence.
 */
export const createLog = (level: string, destination: string | number = 1): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
    },
    pino.destination({ dest: destination, sync: false, mkdir: true, ...gathered }),
  )

/**
 * Lines are written together: each write is handed to another thread, which costs more than the line. None waits longer
 * than the flush, and what a killed process had not yet written is at most that much of its log.
 */
const gathered = { minLength: 8 * 1024, periodicFlush: 100 }

/** Names and places of an error and its causes. */
const describeError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  const internal = 'internal' in error ? error.internal : undefined
  return {
    name,
    message,
    internal,
    stack,
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  }
}

/** Waits until everything logged is written. */
export const flushLog = (log: Log): Promise<void> =>
  new Promise(resolve => {
    log.flush(() => resolve())
  })
