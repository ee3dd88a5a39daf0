/**
 * The upstream of the benchmark, as cheap as one can be: raw sockets, answers built beforehand. It reads no JSON and
 * refuses nothing; for answers by script see test/upstream. Own process: prints `{"port": N}`.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type MockStream, mockStreams, stamp } from './mock-streams.ts'
import { jsonUsage, readPace, type Wire } from './workload.ts'

const jsonAnswer = (() => {
  const message = {
    role: 'assistant',
    content: 'the bridge is free '.repeat(30),
    refusal: null,
    annotations: [],
  }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  const body = JSON.stringify({ ...stamp('chat.completion'), choices, usage: jsonUsage })
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  return Buffer.from(head + body)
})()

/** Paced, each chunk is a write of its own, as models send them; without a gap all leave in one burst. */
const answerStream = (socket: Socket, { start, pieces, end }: MockStream, gapMs: number): void => {
  socket.write(start)
  if (gapMs === 0) {
    for (const bytes of pieces) socket.write(bytes)
    socket.write(end)
    return
  }
  let index = 0
  const next = (): void => {
    if (socket.destroyed) return
    const bytes = pieces[index++]
    socket.write(bytes ?? end)
    if (bytes) setTimeout(next, gapMs)
  }
  next()
}

/** Who is being imitated shows in the request line. */
const wireOf = (head: string): Wire => {
  const line = head.slice(0, head.indexOf('\r\n'))
  if (line.includes('/messages ')) return 'anthropic-messages'
  return line.includes(':streamGenerateContent?') ? 'gemini' : 'chat-completions'
}

const answer = (socket: Socket, head: string, body: string): void => {
  const wire = wireOf(head)
  if (wire !== 'gemini' && !body.includes('"stream":true')) {
    socket.write(jsonAnswer)
    return
  }
  const { delayMs, gapMs } = readPace(body)
  if (delayMs > 0) setTimeout(answerStream, delayMs, socket, mockStreams[wire], gapMs)
  else answerStream(socket, mockStreams[wire], gapMs)
}

/** The length of the first request in `bytes` (head and body), or 0 while it is not all there. */
const requestLength = (bytes: Buffer): { head: number; whole: number } => {
  const head = bytes.indexOf('\r\n\r\n') + 4
  if (head < 4) return { head, whole: 0 }
  const text = bytes.toString('latin1', 0, head)
  if (/transfer-encoding: *chunked/i.test(text)) {
    const end = bytes.indexOf('\r\n0\r\n\r\n', head - 2)
    return { head, whole: end < 0 ? 0 : end + 7 }
  }
  const whole = head + Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0)
  return { head, whole: bytes.length < whole ? 0 : whole }
}

const server = createServer({ noDelay: true }, socket => {
  let unread: Buffer | null = null
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes: Buffer) => {
    let left: Buffer = unread === null ? bytes : Buffer.concat([unread, bytes])
    for (;;) {
      const { head, whole } = requestLength(left)
      if (whole === 0) break
      answer(socket, left.toString('latin1', 0, head), left.toString('latin1', head, whole))
      left = left.subarray(whole)
    }
    unread = left.length > 0 ? left : null
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
})
process.once('SIGTERM', () => process.exit(0))
