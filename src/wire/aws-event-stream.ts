/**
 * Amazon's event stream (`application/vnd.amazon.eventstream`): binary frames of headers and a payload, each guarded by
 * two checksums. Knows frames, not what they mean.
 *
 * | bytes | |
 * |---|---|
 * | 4 | length of the frame, this included |
 * | 4 | length of the headers |
 * | 4 | CRC-32 of these 8 bytes |
 * | … | headers: length of the name, name, kind of value, value |
 * | … | payload |
 * | 4 | CRC-32 of all before |
 *
 * Source: https://smithy.io/2.0/aws/amazon-eventstream.html (2026-11).
 */
import { crc32 } from 'node:zlib'

/** What of the headers a reader needs. Empty where the frame has none of that name. */
export type FrameHeaders = {
  /** `event`, `exception` or `error`. */
  readonly messageType: string
  /** What the frame is called: its `:event-type`, `:exception-type` or `:error-code`. */
  readonly name: string
  /** Of an `error`, which has no payload. */
  readonly errorMessage: string
}

export type AwsFrame = { readonly headers: FrameHeaders; readonly payload: string }

/** Far above any real frame, and far below what would hurt. The format itself allows 24 MiB. */
export const maxFrameBytes = 16 * 1024 * 1024
const maxHeaderBytes = 128 * 1024

const preludeBytes = 12
const checksumBytes = 4

/** The bytes are no event stream, are damaged, or hold a frame longer than `maxFrameBytes`. */
export class BrokenFrame extends Error {
  constructor(why: string) {
    super(`an event-stream frame ${why}`)
    this.name = 'BrokenFrame'
  }
}

/** The usual CRC-32, by bytes: a call of the native one costs more than 8 bytes do. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

const preludeChecksum = (bytes: Buffer, at: number): number => {
  let crc = -1
  for (let i = at; i < at + 8; i++)
    crc = (crc >>> 8) ^ (crcTable[(crc ^ (bytes[i] ?? 0)) & 0xff] ?? 0)
  return ~crc >>> 0
}

/** Length of the frame that starts at `at`, of which the first 12 bytes are there. */
const frameLength = (bytes: Buffer, at: number): number => {
  const length = bytes.readUInt32BE(at)
  const headerBytes = bytes.readUInt32BE(at + 4)
  if (preludeChecksum(bytes, at) !== bytes.readUInt32BE(at + 8))
    throw new BrokenFrame('has a prelude with a wrong checksum')
  if (length > maxFrameBytes || headerBytes > maxHeaderBytes)
    throw new BrokenFrame(`is longer than ${maxFrameBytes} bytes`)
  if (length < preludeBytes + headerBytes + checksumBytes)
    throw new BrokenFrame('is shorter than its own headers')
  return length
}

const textKind = 7
/** Bytes of a value by its kind: true, false, byte, short, integer, long, …, timestamp, UUID. `-1`: told by two bytes. */
const valueBytes = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16]

const readHeaders = (bytes: Buffer): FrameHeaders => {
  const found: Record<string, string> = {}
  let at = 0
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    const name = bytes.toString('latin1', at + 1, nameEnd)
    const kind = bytes.readUInt8(nameEnd)
    let length = valueBytes[kind]
    if (length === undefined) throw new BrokenFrame('has a header of an unknown kind')
    let start = nameEnd + 1
    if (length === -1) {
      length = bytes.readUInt16BE(start)
      start += 2
    }
    at = start + length
    if (at > bytes.length) throw new BrokenFrame('has a header that runs past its end')
    if (kind === textKind) found[name] = bytes.toString('utf8', start, at)
  }
  return {
    messageType: found[':message-type'] ?? '',
    name: found[':event-type'] ?? found[':exception-type'] ?? found[':error-code'] ?? '',
    errorMessage: found[':error-message'] ?? '',
  }
}

const parseHeaders = (bytes: Buffer): FrameHeaders => {
  try {
    return readHeaders(bytes)
  } catch (thrown) {
    // Node's own, for a read past the end.
    if (thrown instanceof RangeError) throw new BrokenFrame('has a header that is cut short')
    throw thrown
  }
}

/**
 * Reads one stream. Bytes may be cut anywhere; what is incomplete is kept for the next call. Cost is linear in the bytes,
 * however they are cut, and what is held is one frame at most.
 */
export class AwsEventStreamDecoder {
  /** The frame that is incomplete: room for its prelude, once that is read for all of it. */
  #held: Buffer | null = null
  #filled = 0
  /** Nearly all frames of a stream have the headers of the one before. */
  #lastHeaderBytes: Buffer = Buffer.alloc(0)
  #lastHeaders: FrameHeaders = { messageType: '', name: '', errorMessage: '' }

  /** A frame is begun and not ended. */
  get isAmidFrame(): boolean {
    return this.#held !== null
  }

  /**
   * Adds the frames that these bytes complete to `frames`, so that those before a broken one are not lost.
   * Raises `BrokenFrame`; nothing after it can be read.
   */
  push(bytes: Buffer, frames: AwsFrame[]): void {
    let at = this.#held === null ? 0 : this.#fill(bytes, frames)
    while (bytes.length - at >= preludeBytes) {
      const length = frameLength(bytes, at)
      if (bytes.length - at < length) {
        this.#hold(bytes, at, length)
        return
      }
      frames.push(this.#readFrame(bytes, at, length))
      at += length
    }
    if (at < bytes.length) this.#hold(bytes, at, preludeBytes)
  }

  /** Takes from `bytes` what the held frame lacks; how many bytes that were. */
  #fill(bytes: Buffer, frames: AwsFrame[]): number {
    let at = 0
    while (this.#held !== null) {
      const taken = bytes.copy(this.#held, this.#filled, at)
      at += taken
      this.#filled += taken
      if (this.#filled < this.#held.length) break
      if (this.#held.length === preludeBytes) {
        this.#hold(this.#held, 0, frameLength(this.#held, 0))
        continue
      }
      const frame = this.#held
      this.#held = null
      frames.push(this.#readFrame(frame, 0, frame.length))
    }
    return at
  }

  #hold(bytes: Buffer, at: number, room: number): void {
    const held = Buffer.allocUnsafe(room)
    this.#filled = bytes.copy(held, 0, at)
    this.#held = held
  }

  #readFrame(bytes: Buffer, at: number, length: number): AwsFrame {
    const end = at + length - checksumBytes
    if (crc32(bytes.subarray(at, end)) !== bytes.readUInt32BE(end))
      throw new BrokenFrame('has a wrong checksum')
    const start = at + preludeBytes
    const headersEnd = start + bytes.readUInt32BE(at + 4)
    const last = this.#lastHeaderBytes
    const isSame =
      headersEnd - start === last.length &&
      bytes.compare(last, 0, last.length, start, headersEnd) === 0
    if (!isSame) {
      // A copy: the bytes may be written over once they are read.
      this.#lastHeaderBytes = Buffer.from(bytes.subarray(start, headersEnd))
      this.#lastHeaders = parseHeaders(this.#lastHeaderBytes)
    }
    return { headers: this.#lastHeaders, payload: bytes.toString('utf8', headersEnd, end) }
  }
}
