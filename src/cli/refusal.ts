/** What a command can't do, in the shape that crosses the socket and that `--json` prints on stderr. */
import { ConfigError } from '../config.ts'
import { DatabaseError } from '../db/database-error.ts'
import { type ErrorMetadata, GatewayError } from '../errors.ts'
import { OperatorFileError } from '../providers/operator-file.ts'

export type Refusal = {
  /** Of the catalogue or of the database, or one of the command line's own. */
  code: string
  message: string
  metadata?: ErrorMetadata
}

/** A refusal, thrown. The operator reads it, so what is internal to a client's eyes may stand in it; a secret may not. */
export class CommandError extends Error {
  readonly code: string
  readonly metadata: ErrorMetadata | undefined

  constructor(code: string, message: string, metadata?: ErrorMetadata) {
    super(message)
    this.name = 'CommandError'
    this.code = code
    this.metadata = metadata
  }
}

/** Anything thrown, as a refusal. */
export const toRefusal = (thrown: unknown): Refusal => {
  if (thrown instanceof GatewayError) {
    const { code, message, internal, metadata } = thrown
    const said = internal === undefined ? message : `${message} (${internal})`
    return { code, message: said, ...(metadata ? { metadata } : {}) }
  }
  if (thrown instanceof CommandError) {
    const { code, message, metadata } = thrown
    return { code, message, ...(metadata ? { metadata } : {}) }
  }
  if (thrown instanceof DatabaseError) return { code: thrown.code, message: thrown.message }
  if (thrown instanceof ConfigError || thrown instanceof OperatorFileError)
    return { code: 'wrong_settings', message: thrown.message }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { code: 'internal_error', message }
}
