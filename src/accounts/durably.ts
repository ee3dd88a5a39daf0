import type { Database, Operation } from '../db/database.ts'
import { DatabaseError } from '../db/database-error.ts'
import { GatewayError } from '../errors.ts'

/** Writes, in the words of the catalogue: `ledger_unavailable` where it could not be made durable. */
export const durably = async (
  db: Database,
  operations: Operation[],
  otherwise: string,
): Promise<void> => {
  try {
    await db.write(operations)
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    throw new GatewayError('ledger_unavailable', otherwise, {
      internal: error.message,
      cause: error,
    })
  }
}

const mostNameLength = 100

/** Raises `invalid_request`. */
export const requireName = (name: string): string => {
  const trimmed = name.trim()
  if (trimmed !== '' && trimmed.length <= mostNameLength) return trimmed
  throw new GatewayError('invalid_request', `A name has 1 to ${mostNameLength} characters.`, {
    param: 'name',
  })
}
