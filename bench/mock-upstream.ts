/**
 * The upstream of the benchmark, as cheap as one can be: raw sockets, answers built beforehand. It reads no JSON and
 * refuses nothing; for answers by script see test/upstream. Own process: prints `{"port": N}`.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { chunksPerStream, jsonUsage, readPace, streamUsage } from './workload.ts'

const stamp = (object: string) => ({
  id: 'chatcmpl-BenchBenchBenchBenchBench',
  object,
  created: 1_700_000_000,
  model: 'gpt-4o-mini-2024-07-18',
  service_tier: 'default',
  system_fingerprint: 'fp_0123456789',
})

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

const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
)
const frame = (data: string): string => {
  const event = `data: ${data}\n\n`
  return `${event.length.toString(16)}\r\n${event}\r\n`
}
const chunk = (choices: object[], more: object = {}): string =>
  frame(JSON.stringify({ ...stamp('chat.completion.chunk'), choices, ...more }))
const choice = (delta: object, finish_reason: string | null = null) => [
  { index: 0, delta, logprobs: null, finish_reason },
]
const contentFrames = Array.from({ length: chunksPerStream }, (_, index) =>
  Buffer.from(
    chunk(choice(index === 0 ? { role: 'assistant', content: 'the' } : { content: ' bridge' })),
  ),
)
const streamEnd = Buffer.from(
  `${chunk(choice({}, 'stop'))}${chunk([], { usage: streamUsage })}${frame('[DONE]')}0\r\n\r\n`,
)

/** Paced, each chunk is a write of its own, as models send them; without a gap all leave in one burst. */
const answerStream = (socket: Socket, gapMs: number): void => {
  socket.write(streamHead)
  if (gapMs === 0) {
    for (const bytes of contentFrames) socket.write(bytes)
    socket.write(streamEnd)
    return
  }
  let index = 0
  const next = (): void => {
    if (socket.destroyed) return
    const bytes = contentFrames[index++]
    socket.write(bytes ?? streamEnd)
    if (bytes) setTimeout(next, gapMs)
  }
  next()
}

const answer = (socket: Socket, body: string): void => {
  if (!body.includes('"stream":true')) {
    socket.write(jsonAnswer)
    return
  }
  const { delayMs, gapMs } = readPace(body)
  if (delayMs > 0) setTimeout(answerStream, delayMs, socket, gapMs)
  else answerStream(socket, gapMs)
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
      answer(socket, left.toString('latin1', head, whole))
      left = left.subarray(whole)
    }
    unread = left.length > 0 ? left : null
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
})
process.once('SIGTERM', () => process.exit(0))
