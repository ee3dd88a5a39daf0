import { connect, type Socket } from 'node:net'
import { requireOwnFolder } from './control-path.ts'
import { CommandError, type Refusal } from './refusal.ts'

/** Rises when a request or a result changes its meaning: either side refuses another version. */
export const controlVersion = 1

export type ControlRequest = { version: number; operation: string; args: unknown }
export type ControlReply =
  | { version: number; result: unknown }
  | { version: number; error: Refusal }

const replyLimit = 32 * 1024 * 1024

/** `undefined` where nobody listens at `path`. Raises `CommandError` where the socket is another user's. */
export const connectControl = (path: string): Promise<Socket | undefined> => {
  requireOwnFolder(path, { make: false })
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.off('error', refused)
      resolve(socket)
    })
    const refused = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EACCES' || error.code === 'EPERM') {
        const message = `The gateway at ${path} belongs to another user: run this as that user.`
        reject(new CommandError('permission_denied', message))
      } else resolve(undefined)
    }
    socket.once('error', refused)
  })
}

/** Sends one request and closes. `timeoutMs` 0 waits for as long as it takes. Raises `CommandError`. */
export const ask = async (
  socket: Socket,
  request: Omit<ControlRequest, 'version'>,
  timeoutMs: number,
): Promise<unknown> => {
  socket.write(`${JSON.stringify({ version: controlVersion, ...request })}\n`)
  try {
    // The other side is this same program, of the version that is checked here.
    const reply = JSON.parse(await readReply(socket, timeoutMs)) as ControlReply
    if ('error' in reply)
      throw new CommandError(reply.error.code, reply.error.message, reply.error.metadata)
    if (reply.version !== controlVersion) throw otherVersion()
    return reply.result
  } finally {
    socket.destroy()
  }
}

export const otherVersion = (): CommandError =>
  new CommandError(
    'version_mismatch',
    'This command and the running gateway are of different versions of Tollgate.',
  )

const unsure = 'Whether it was done is not known: look before you try again.'

const readReply = (socket: Socket, timeoutMs: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: string[] = []
    let length = 0
    const fail = (message: string): void =>
      reject(new CommandError('no_answer', `${message} ${unsure}`))
    socket.setTimeout(timeoutMs, () =>
      fail(`The gateway did not answer within ${timeoutMs / 1_000} s.`),
    )
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > replyLimit) fail('The answer is too long; ask for less with --limit.')
      else if (chunk.endsWith('\n')) resolve(chunks.join(''))
    })
    socket.on('error', () => fail('The connection to the gateway broke.'))
    socket.on('close', () => fail('The gateway stopped before it answered.'))
  })
