import type { Database, Operation } from '../db/database.ts'
import { DatabaseError } from '../db/database-error.ts'
import { Batch } from './batch.ts'
import { type BatchStatements, prepareBatch } from './batch-statements.ts'

/** One thing to be made durable. */
export interface Work {
  /** False where it was overtaken while it waited: it is then left out. */
  readonly wanted: boolean
  addTo(batch: Batch): void
  whenCommitted(): void
  /** The commit failed, nothing was written. True: keep it queued and try again. */
  whenFailed(error: DatabaseError): boolean
  /** The database contradicts it, alone as it was: trying again would fail again. */
  whenRefused(error: DatabaseError): void
}

export type CommitterOptions = {
  clock: () => number
  onCommit: (durationMs: number, works: number) => void
  onFailure: () => void
  /** Something is under way that will end in a work. */
  expectsMore: () => boolean
}

const mostPerBatch = 500
const firstRetryMs = 100
const lastRetryMs = 2_000

/** Where more works than this come, a commit waits a moment for more: its own CPU costs that of ten works. */
const busyPerSecond = 600
const momentMs = 2
const enoughWorks = 64
/** Over how many works the pace is the mean, and the longest pause that counts. */
const paceWorks = 10
const longestPauseMs = 20

/**
 * Group commit: while one commit is under way all that comes waits, and goes in the next. A busy ledger gathers for a
 * moment, unless everything under way waits already; one that isn't busy commits at once. After a failure everything
 * waits for the next retry, whose pauses grow, and the ledger takes no new work until a commit has succeeded.
 */
export class Committer {
  readonly #db: Database
  readonly #statements: BatchStatements
  readonly #options: CommitterOptions
  #queue: Work[] = []
  /** How many at the head of the queue go alone: one of them was refused, and must not spoil the others. */
  #alone = 0
  #busy = false
  #failing = false
  #retryMs = firstRetryMs
  #idlers: (() => void)[] = []
  #paceMs = longestPauseMs
  #lastWorkAtMs = 0
  #endMoment: (() => void) | null = null

  constructor(db: Database, options: CommitterOptions) {
    this.#db = db
    this.#statements = prepareBatch(db)
    this.#options = options
  }

  /** The last commit failed. */
  get failing(): boolean {
    return this.#failing
  }

  get queued(): number {
    return this.#queue.length
  }

  add(work: Work): void {
    this.#queue.push(work)
    this.#notePace()
    if (this.#endMoment !== null && !this.#gains()) this.#endMoment()
    if (this.#busy) return
    this.#busy = true
    // After the I/O of this turn, so that what arrived together goes together.
    setImmediate(() => this.#run())
  }

  async #run(): Promise<void> {
    do {
      if (this.#paceMs * busyPerSecond < 1_000 && this.#gains()) await this.#moment()
      const batch = new Batch(this.#statements, this.#options.clock())
      const works = this.#take().filter(work => compose(work, batch))
      if (works.length > 0 || this.#failing) await this.#commit(works, batch)
    } while (this.#queue.length > 0 && !this.#failing)
    if (this.#failing) return this.#retryLater()
    this.#busy = false
    for (const idler of this.#idlers.splice(0)) idler()
  }

  #notePace(): void {
    const nowMs = performance.now()
    const pauseMs = Math.min(nowMs - this.#lastWorkAtMs, longestPauseMs)
    this.#lastWorkAtMs = nowMs
    this.#paceMs += (pauseMs - this.#paceMs) / paceWorks
  }

  /** Waiting would make the next commit serve more. */
  #gains(): boolean {
    return this.#queue.length < enoughWorks && !this.#failing && this.#options.expectsMore()
  }

  #moment(): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        clearTimeout(timer)
        this.#endMoment = null
        resolve()
      }
      const timer = setTimeout(end, momentMs)
      this.#endMoment = end
    })
  }

  #take(): Work[] {
    const count = this.#alone > 0 ? 1 : mostPerBatch
    if (this.#alone > 0) this.#alone--
    return this.#queue.splice(0, count)
  }

  async #commit(works: Work[], batch: Batch): Promise<void> {
    const startedAt = performance.now()
    const failure = await this.#write(batch.toOperations())
    if (failure === undefined) {
      batch.committed()
      this.#recover()
      this.#options.onCommit(performance.now() - startedAt, works.length)
      for (const work of works) work.whenCommitted()
    } else if (failure.code === 'refused') {
      this.#recover()
      this.#setApart(works, failure)
    } else {
      this.#failing = true
      this.#options.onFailure()
      this.#queue = works.filter(work => work.whenFailed(failure)).concat(this.#queue)
    }
  }

  async #write(operations: Operation[]): Promise<DatabaseError | undefined> {
    try {
      await this.#db.write(operations)
      return undefined
    } catch (error) {
      return error instanceof DatabaseError ? error : new DatabaseError('refused', String(error))
    }
  }

  #setApart(works: Work[], failure: DatabaseError): void {
    if (works.length === 1) return works[0]?.whenRefused(failure)
    this.#queue = works.concat(this.#queue)
    this.#alone = works.length
  }

  #recover(): void {
    this.#failing = false
    this.#retryMs = firstRetryMs
  }

  #retryLater(): void {
    setTimeout(() => this.#run(), this.#retryMs).unref()
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs)
  }

  /** True once nothing waits, false where that takes longer than `timeoutMs`. */
  idle(timeoutMs: number): Promise<boolean> {
    if (!this.#busy) return Promise.resolve(true)
    return new Promise(resolve => {
      const timer = setTimeout(() => resolve(false), timeoutMs)
      this.#idlers.push(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}

const compose = (work: Work, batch: Batch): boolean => {
  if (!work.wanted) return false
  try {
    work.addTo(batch)
    return true
  } catch (error) {
    work.whenRefused(new DatabaseError('refused', String(error)))
    return false
  }
}
