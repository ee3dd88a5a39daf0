import type { Worker } from 'node:worker_threads'
import { startThread } from '../thread.ts'
import type { Operation, StatementId } from './database.ts'
import { closedError, DatabaseError, toError } from './database-error.ts'
import type { WriterData, WriterReply, WriterRequest } from './messages.ts'

type Unit = {
  operations: Operation[]
  resolve: (changes: number[]) => void
  reject: (error: DatabaseError) => void
}

/** The event loop's side of the writer. At most one message is under way; all that comes meanwhile goes in the next. */
export class WriterClient {
  readonly ready: Promise<void>
  readonly #thread: Worker
  readonly #ids = new Map<string, StatementId>()
  #unsent: [StatementId, string][] = []
  #waiting: Unit[] = []
  #underWay: Unit[] = []
  #idlers: (() => void)[] = []
  #gone: DatabaseError | undefined

  constructor(workerData: WriterData) {
    this.#thread = startThread(new URL('./writer-thread.ts', import.meta.url), {
      workerData,
      name: 'db-writer',
    })
    this.ready = new Promise((resolve, reject) => {
      this.#thread.on('message', (reply: WriterReply) => {
        if (reply.kind === 'ready') resolve()
        else if (reply.kind === 'cannot_start') reject(toError(reply.failure))
        else this.#finish(reply)
      })
      this.#thread.on('error', (error: Error) => this.#fail(error.message, reject))
      this.#thread.on('exit', () => this.#fail('The writer thread has ended.', reject))
    })
  }

  prepare(sql: string): StatementId {
    const known = this.#ids.get(sql)
    if (known !== undefined) return known
    // The brand exists for the compiler only.
    const id = this.#ids.size as StatementId
    this.#ids.set(sql, id)
    this.#unsent.push([id, sql])
    return id
  }

  write(operations: Operation[]): Promise<number[]> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone)
      this.#waiting.push({ operations, resolve, reject })
      if (this.#underWay.length === 0) this.#send()
    })
  }

  #send(): void {
    this.#underWay = this.#waiting
    this.#waiting = []
    const units = this.#underWay.map(({ operations }) => operations)
    const request: WriterRequest = { kind: 'write', statements: this.#unsent, units }
    this.#unsent = []
    this.#thread.postMessage(request)
  }

  #finish(reply: WriterReply): void {
    const units = this.#underWay
    this.#underWay = []
    // Before the callers hear of it: what they write next then waits for a commit that is already under way.
    if (this.#waiting.length > 0) this.#send()
    for (const [index, unit] of units.entries()) answer(unit, reply, index)
    if (this.#underWay.length > 0) return
    for (const idler of this.#idlers.splice(0)) idler()
  }

  #fail(message: string, rejectReady: (error: DatabaseError) => void): void {
    this.#gone ??= new DatabaseError('closed', message)
    rejectReady(this.#gone)
    for (const unit of [...this.#underWay.splice(0), ...this.#waiting.splice(0)])
      unit.reject(this.#gone)
    for (const idler of this.#idlers.splice(0)) idler()
  }

  /** Resolves when all that was written is answered. */
  idle(): Promise<void> {
    if (this.#underWay.length === 0) return Promise.resolve()
    return new Promise(resolve => this.#idlers.push(resolve))
  }

  async close(): Promise<void> {
    if (this.#gone !== undefined) return
    const ended = new Promise(resolve => this.#thread.once('exit', resolve))
    const request: WriterRequest = { kind: 'close' }
    this.#thread.postMessage(request)
    await ended
  }
}

const answer = ({ resolve, reject }: Unit, reply: WriterReply, index: number): void => {
  if (reply.kind === 'commit_failed') return reject(toError(reply.failure))
  const result = reply.kind === 'committed' ? reply.results[index] : undefined
  if (Array.isArray(result)) resolve(result)
  else reject(result === undefined ? closedError() : toError(result))
}
