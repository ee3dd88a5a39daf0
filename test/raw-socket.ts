/** HTTP as bytes on a socket: for requests that no client library agrees to send. */
import { connect, type Socket } from 'node:net'

export type RawReply = { status: number; headers: Record<string, string>; text: string }

export type RawOptions = {
  /** Answer is taken as over after this much silence, once something came; a close ends it at once. */
  quietMs?: number
  /** Gives up after this. */
  limitMs?: number
  /** Closes our half as soon as all is written. */
  halfClose?: boolean
}

export const openSocket = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => resolve(socket))
    socket.once('error', reject)
  })

/** Writes `parts` one after the other and resolves with all that came back, byte for byte (latin1). */
export const sendRaw = async (
  url: string,
  parts: readonly (string | Buffer)[],
  { quietMs = 400, limitMs = 5_000, halfClose = false }: RawOptions = {},
): Promise<string> => {
  const socket = await openSocket(url)
  let received = ''
  await new Promise<void>(resolve => {
    const limit = setTimeout(resolve, limitMs)
    let quiet: NodeJS.Timeout | undefined
    socket.on('data', bytes => {
      received += bytes.toString('latin1')
      clearTimeout(quiet)
      quiet = setTimeout(resolve, quietMs)
    })
    socket.on('close', () => {
      clearTimeout(limit)
      clearTimeout(quiet)
      resolve()
    })
    // A reset after the answer is how a server gets rid of a body that it will not read.
    socket.on('error', () => {})
    for (const part of parts)
      socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
    if (halfClose) socket.end()
  })
  socket.destroy()
  return received
}

/** The first answer in `received`. Throws where there is none. */
export const parseReply = (received: string): RawReply => {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(received) ?? []
  const end = received.indexOf('\r\n\r\n')
  if (status === undefined || end === -1)
    throw new Error(`No HTTP answer: ${JSON.stringify(received.slice(0, 200))}`)
  const headers: Record<string, string> = {}
  for (const line of received.slice(0, end).split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const length = headers['content-length']
  const body = received.slice(end + 4)
  return {
    status: Number(status),
    headers,
    text: length === undefined ? body : body.slice(0, Number(length)),
  }
}

/** A request head; `headers` are written as they stand, in order. */
export const head = (
  line: string,
  headers: readonly (readonly [name: string, value: string])[],
): string => `${line}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
