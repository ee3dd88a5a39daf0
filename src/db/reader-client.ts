import type { Worker } from 'node:worker_threads'
import { startThread } from '../thread.ts'
import type { Value } from './database.ts'
import { DatabaseError, toError } from './database-error.ts'
import type { ReaderReply, ReaderRequest } from './messages.ts'

type Waiting = { resolve: (reply: ReaderReply) => void; reject: (error: DatabaseError) => void }

/** The event loop's side of a reader, which answers in the order of asking. */
export class ReaderClient {
  readonly #thread: Worker
  readonly #waiting: Waiting[] = []
  #gone: DatabaseError | undefined

  constructor(file: string) {
    this.#thread = startThread(new URL('./reader-thread.ts', import.meta.url), {
      workerData: { file },
      name: 'db-reader',
    })
    this.#thread.on('message', (reply: ReaderReply) => {
      const waiting = this.#waiting.shift()
      if (reply.kind === 'failed') waiting?.reject(toError(reply.failure))
      else waiting?.resolve(reply)
    })
    this.#thread.on('error', (error: Error) => this.#fail(error.message))
    this.#thread.on('exit', () => this.#fail('The reader thread has ended.'))
  }

  async read<Row>(sql: string, params: Value[]): Promise<Row[]> {
    const reply = await this.ask({ kind: 'read', sql, params })
    return reply.kind === 'rows' ? rowsOf<Row>(reply) : []
  }

  ask(request: ReaderRequest): Promise<ReaderReply> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone)
      this.#waiting.push({ resolve, reject })
      this.#thread.postMessage(request)
    })
  }

  #fail(message: string): void {
    this.#gone ??= new DatabaseError('closed', message)
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#gone)
  }

  /** What was asked before is answered first. */
  async terminate(): Promise<void> {
    if (this.#gone !== undefined) return
    const ended = new Promise(resolve => this.#thread.once('exit', resolve))
    await this.ask({ kind: 'close' }).catch(() => {})
    await ended
  }
}

/** The caller names the row type, as it names the columns in its SQL. */
const rowsOf = <Row>({ columns, rows }: Extract<ReaderReply, { kind: 'rows' }>): Row[] =>
  rows.map(values => {
    const row: Record<string, Value> = {}
    for (const [index, column] of columns.entries()) row[column] = values[index] ?? null
    // Its columns are those of the caller's SQL, and so of the caller's type.
    return row as Row
  })
