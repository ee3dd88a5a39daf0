/**
 * The operator's way into a running gateway: a Unix socket beside the database, for this user only. A connection carries
 * one line of JSON, an operation's name with its arguments, and is answered by one line. What may be done is not decided
 * here but in `operations.ts`.
 */
import { lstatSync, unlinkSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Books } from '../books.ts'
import {
  type ControlReply,
  type ControlRequest,
  connectControl,
  controlVersion,
  otherVersion,
} from './control-client.ts'
import { requireOwnFolder } from './control-path.ts'
import { runOperation } from './operations.ts'
import { CommandError, toRefusal } from './refusal.ts'

export { controlPathFor } from './control-path.ts'

export type ControlOptions = { path: string; books: Books }

export type Control = {
  /** Takes no more commands, and lets those under way end for at most 2 s. */
  close(): Promise<void>
}

const requestLimit = 64 * 1024
/** To send a request, and to take in its answer; the work in between takes what it takes. */
const peerTimeoutMs = 5_000
const connectionLimit = 32
const closeTimeoutMs = 2_000

/**
 * Listens at `path`, mode 0600 from the first moment. Open books mean that this process has the database's lock, so a
 * socket that is already there was left by a crash: it is removed, unless someone answers. Raises `CommandError`
 * `control_path_taken`.
 */
export const openControl = async ({ path, books }: ControlOptions): Promise<Control> => {
  requireOwnFolder(path, { make: true })
  await removeStale(path)
  const control = new ControlServer(books)
  await listen(control.server, path)
  return control
}

const removeStale = async (path: string): Promise<void> => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  const socket = found.isSocket() ? await connectControl(path) : undefined
  socket?.destroy()
  if (!found.isSocket() || socket !== undefined) {
    const what = found.isSocket() ? 'another process answers there' : 'it is no socket'
    throw new CommandError('control_path_taken', `${path} can't be used for commands: ${what}.`)
  }
  unlinkSync(path)
}

/** Node binds before `listen` returns, so the mask covers just that; a chmod afterwards would leave a window. */
const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    const mask = process.umask(0o177)
    try {
      server.listen(path, () => {
        server.off('error', reject)
        resolve()
      })
    } finally {
      process.umask(mask)
    }
  })

class ControlServer implements Control {
  readonly server = createServer(socket => this.#serve(socket))
  readonly #books: Books
  readonly #sockets = new Set<Socket>()
  readonly #underWay = new Set<Promise<void>>()
  #closing = false

  constructor(books: Books) {
    this.#books = books
    this.server.maxConnections = connectionLimit
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    readLine(socket, line => {
      const answered = this.#answer(line)
        .then(reply => {
          socket.setTimeout(peerTimeoutMs)
          socket.end(`${JSON.stringify(reply)}\n`)
        })
        .finally(() => this.#underWay.delete(answered))
      this.#underWay.add(answered)
    })
  }

  async #answer(line: string): Promise<ControlReply> {
    const version = controlVersion
    try {
      if (this.#closing) throw new CommandError('draining', 'The gateway is stopping.')
      // Nothing of it is trusted: the version is compared, the name looked up, the arguments parsed.
      const request = JSON.parse(line) as Partial<ControlRequest> | null
      if (request?.version !== version) throw otherVersion()
      const { operation = '', args } = request
      return { version, result: await runOperation(this.#books, operation, args, true) }
    } catch (error) {
      return { version, error: toRefusal(error) }
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    const closed = new Promise(resolve => this.server.close(resolve))
    const destroyAll = () => {
      for (const socket of this.#sockets) socket.destroy()
    }
    const timer = setTimeout(destroyAll, closeTimeoutMs)
    await Promise.race([Promise.allSettled([...this.#underWay]), closed])
    for (const socket of this.#sockets) socket.destroySoon()
    await closed
    clearTimeout(timer)
  }
}

/** Hands on the first line; a peer that sends none in time, or too much, is let go. */
const readLine = (socket: Socket, onLine: (line: string) => void): void => {
  let text = ''
  const read = (chunk: string): void => {
    text += chunk
    const end = text.indexOf('\n')
    if (text.length > requestLimit) socket.destroy()
    else if (end !== -1) {
      socket.off('data', read).resume().setTimeout(0)
      onLine(text.slice(0, end))
    }
  }
  socket.setTimeout(peerTimeoutMs, () => socket.destroy())
  socket.setEncoding('utf8').on('data', read)
}
