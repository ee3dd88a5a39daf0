import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  AwsEventStreamDecoder,
  type AwsFrame,
  BrokenFrame,
  maxFrameBytes,
} from '../../src/wire/aws-event-stream.ts'

const codec = new EventStreamCodec(
  bytes => Buffer.from(bytes as Uint8Array).toString(),
  text => Buffer.from(text),
)
type Headers = Parameters<typeof codec.encode>[0]['headers']

const text = (value: string) => ({ type: 'string', value }) as const
const eventHeaders = (name: string): Headers => ({
  ':event-type': text(name),
  ':content-type': text('application/json'),
  ':message-type': text('event'),
})
const encode = (payload: string, headers: Headers = eventHeaders('contentBlockDelta')): Buffer =>
  Buffer.from(codec.encode({ headers, body: Buffer.from(payload) }))

const read = (...pieces: Buffer[]): { frames: AwsFrame[]; broken: string | null } => {
  const decoder = new AwsEventStreamDecoder()
  const frames: AwsFrame[] = []
  try {
    for (const piece of pieces) decoder.push(piece, frames)
  } catch (thrown) {
    if (!(thrown instanceof BrokenFrame)) throw thrown
    return { frames, broken: thrown.message }
  }
  return { frames, broken: decoder.isAmidFrame ? 'cut short' : null }
}

const event = (name: string, payload: string): AwsFrame => ({
  headers: { messageType: 'event', name, errorMessage: '' },
  payload,
})

describe('an event stream', () => {
  const stream = Buffer.concat([
    encode('{"role":"assistant"}', eventHeaders('messageStart')),
    encode('{"text":"grün 😀"}'),
    encode(''),
    encode('{"message":"slow down"}', {
      ':exception-type': text('throttlingException'),
      ':message-type': text('exception'),
    }),
    encode('', {
      ':message-type': text('error'),
      ':error-code': text('InternalError'),
      ':error-message': text('oops'),
    }),
  ])
  const frames: AwsFrame[] = [
    event('messageStart', '{"role":"assistant"}'),
    event('contentBlockDelta', '{"text":"grün 😀"}'),
    event('contentBlockDelta', ''),
    {
      headers: { messageType: 'exception', name: 'throttlingException', errorMessage: '' },
      payload: '{"message":"slow down"}',
    },
    {
      headers: { messageType: 'error', name: 'InternalError', errorMessage: 'oops' },
      payload: '',
    },
  ]

  test('is read as Amazon writes it', () => {
    expect(read(stream)).toEqual({ frames, broken: null })
  })

  test('may be cut anywhere', () => {
    for (let at = 0; at <= stream.length; at++)
      expect(read(stream.subarray(0, at), stream.subarray(at))).toEqual({ frames, broken: null })
    const single = [...stream.keys()].map(at => stream.subarray(at, at + 1))
    expect(read(...single)).toEqual({ frames, broken: null })
  })

  test('keeps frames that it has handed out, whatever becomes of the buffer', () => {
    const bytes = Buffer.from(stream)
    const decoder = new AwsEventStreamDecoder()
    const got: AwsFrame[] = []
    decoder.push(bytes.subarray(0, 300), got)
    const rest = Buffer.from(bytes.subarray(300))
    bytes.fill(0)
    decoder.push(rest, got)
    expect(got).toEqual(frames)
  })

  test('may have headers of every kind', () => {
    const headers: Headers = {
      yes: { type: 'boolean', value: true },
      no: { type: 'boolean', value: false },
      byte: { type: 'byte', value: 7 },
      short: { type: 'short', value: 300 },
      integer: { type: 'integer', value: 70_000 },
      binary: { type: 'binary', value: Buffer.from(':event-type') },
      time: { type: 'timestamp', value: new Date(1000) },
      uuid: { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
      ...eventHeaders('metadata'),
    }
    expect(read(encode('{}', headers)).frames).toEqual([event('metadata', '{}')])
  })

  test.each([1, 9, 13, 40, stream.length - 1])('with a bit flipped at byte %i is broken', at => {
    const damaged = Buffer.from(stream)
    damaged.writeUInt8(damaged.readUInt8(at) ^ 4, at)
    const { frames: got, broken } = read(damaged)
    expect(broken).toContain('checksum')
    expect(frames.slice(0, got.length)).toEqual(got)
  })

  test('cut short is known to be', () => {
    expect(read(stream.subarray(0, -1)).broken).toBe('cut short')
    expect(read(stream.subarray(0, 5)).broken).toBe('cut short')
  })

  const prelude = (length: number, headerBytes: number): Buffer => {
    const sample = Buffer.alloc(8)
    sample.writeUInt32BE(length, 0)
    sample.writeUInt32BE(headerBytes, 4)
    const checksum = Buffer.alloc(4)
    checksum.writeUInt32BE(crcOf(sample))
    return Buffer.concat([sample, checksum])
  }
  test.each([
    ['too long', prelude(maxFrameBytes + 1, 0), 'longer'],
    ['with too many headers', prelude(maxFrameBytes, 200_000), 'longer'],
    ['shorter than its headers', prelude(20, 8), 'shorter'],
    ['of nothing', prelude(0, 0), 'shorter'],
    ['that is no frame', Buffer.from('HTTP/1.1 200 OK\r\n'), 'checksum'],
  ])('refuses a frame %s before it comes', (_, bytes, why) => {
    expect(read(bytes).broken).toContain(why)
  })

  test.each([
    ['an unknown kind', Buffer.from([1, 97, 10]), 'unknown kind'],
    ['a name past the end', Buffer.from([200, 97]), 'cut short'],
    ['a value past the end', Buffer.from([1, 97, 7, 0, 9, 98]), 'past its end'],
    ['no value', Buffer.from([1, 97, 7]), 'cut short'],
  ])('refuses a header with %s', (_, headers, why) => {
    const head = prelude(16 + headers.length, headers.length)
    const all = Buffer.concat([head, headers])
    const checksum = Buffer.alloc(4)
    checksum.writeUInt32BE(crcOf(all))
    expect(read(Buffer.concat([all, checksum])).broken).toContain(why)
  })

  test('in pieces of any size gives the same frames', () => {
    const property = fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 8 }),
      fc.array(fc.nat(400), { maxLength: 30 }),
      (payloads, sizes) => {
        const bytes = Buffer.concat(payloads.map(payload => encode(payload)))
        const pieces: Buffer[] = []
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          pieces.push(bytes.subarray(at, at + size))
          at += size
        }
        expect(read(...pieces)).toEqual({
          frames: payloads.map(payload => event('contentBlockDelta', payload)),
          broken: null,
        })
      },
    )
    fc.assert(property, { numRuns: 300 })
  })

  test('costs time in proportion to its bytes, also where each comes alone', () => {
    const msFor = (megabytes: number): number => {
      const bytes = encode('x'.repeat(megabytes * 1024 * 1024))
      const decoder = new AwsEventStreamDecoder()
      const got: AwsFrame[] = []
      const started = performance.now()
      for (let at = 0; at < bytes.length; at++) decoder.push(bytes.subarray(at, at + 1), got)
      expect(got).toHaveLength(1)
      return performance.now() - started
    }
    msFor(1)
    expect(msFor(4) / msFor(1)).toBeLessThan(12)
  })
})

/** The checksum by its definition, bit by bit. */
function crcOf(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let i = 0; i < 8; i++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}
