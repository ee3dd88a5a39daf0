/** What the event loop and the two database threads say to each other. */

import type { Operation, StatementId, Value } from './database.ts'
import type { Failure } from './database-error.ts'

export type WriterData = { file: string; migrationsDir: string; faults?: Int32Array | undefined }

export type WriterRequest =
  | { kind: 'write'; statements: [StatementId, string][]; units: Operation[][] }
  | { kind: 'close' }

export type WriterReply =
  | { kind: 'ready' }
  | { kind: 'cannot_start'; failure: Failure }
  /** One commit for all units; each of them committed (the changes of its operations) or refused. */
  | { kind: 'committed'; results: (number[] | Failure)[] }
  | { kind: 'commit_failed'; failure: Failure }
  | { kind: 'closed' }

export type ReaderData = { file: string }

export type ReaderRequest =
  | { kind: 'read'; sql: string; params: Value[] }
  /** All reads after it see one moment. */
  | { kind: 'begin' }
  | { kind: 'backup'; target: string }
  | { kind: 'close' }

/** Rows travel as arrays: names once, not once a row. */
export type ReaderReply =
  | { kind: 'rows'; columns: string[]; rows: Value[][] }
  | { kind: 'done' }
  | { kind: 'failed'; failure: Failure }
