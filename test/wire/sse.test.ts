import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  doneEvent,
  encodeComment,
  encodeSse,
  maxEventLength,
  OversizedEvent,
  SseDecoder,
} from '../../src/wire/sse.ts'

const decode = (...pieces: (string | Buffer)[]): [string | null, string][] => {
  const decoder = new SseDecoder()
  const events = pieces.flatMap(piece => decoder.push(Buffer.from(piece)))
  return [...events, ...decoder.end()].map(({ event, data }) => [event, data])
}

test.each([
  ['LF', 'data: a\n\ndata: b\n\n'],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n'],
  ['CR', 'data: a\r\rdata: b\r\r'],
  ['a mixture', 'data: a\r\n\ndata: b\r\r\n'],
  ['a byte order mark', '\uFEFFdata: a\n\ndata: b\n\n'],
  ['no space after the colon', 'data:a\n\ndata:b\n\n'],
  ['comments between', ': hello\n\ndata: a\n:\n\n: PROCESSING\n\ndata: b\n\n'],
  ['ids and retries', 'id: 1\nretry: 5\ndata: a\n\nid\ndata: b\n\n'],
  ['no blank line at the end', 'data: a\n\ndata: b'],
])('reads two events with %s, wherever they are cut', (_, text) => {
  const bytes = Buffer.from(text)
  const wanted = [
    [null, 'a'],
    [null, 'b'],
  ]
  expect(decode(bytes)).toEqual(wanted)
  for (let i = 1; i < bytes.length; i++)
    expect(decode(bytes.subarray(0, i), bytes.subarray(i))).toEqual(wanted)
  expect(decode(...Array.from(bytes, byte => Buffer.of(byte)))).toEqual(wanted)
})

test('keeps an event name for one event only', () => {
  expect(decode('event: error\ndata: {}\n\ndata: x\n\n')).toEqual([
    ['error', '{}'],
    [null, 'x'],
  ])
})

test('joins several data lines with a line feed and takes off one space only', () => {
  expect(decode('data: a\ndata:  b\ndata\n\n')).toEqual([[null, 'a\n b\n']])
})

test('does not take a line end that was cut in two for an empty line', () => {
  const bytes = Buffer.from('data: a\r\ndata: b\r\n\r\n')
  for (let i = 1; i < bytes.length; i++)
    expect(decode(bytes.subarray(0, i), bytes.subarray(i))).toEqual([[null, 'a\nb']])
})

test("reads llama.cpp's error field as an error event", () => {
  expect(decode('error: {"error":{"message":"full"}}\n\n')).toEqual([
    ['error', '{"error":{"message":"full"}}'],
  ])
})

test('yields nothing for an event without data', () => {
  expect(decode('event: ping\n\n: x\n\n\n\n')).toEqual([])
})

test('refuses an event without end, in one line or in many', () => {
  const oneLine = new SseDecoder()
  const piece = Buffer.alloc(1024 * 1024, 'x')
  expect(() => {
    for (let sent = 0; sent <= maxEventLength; sent += piece.length) oneLine.push(piece)
  }).toThrow(OversizedEvent)
  const manyLines = new SseDecoder()
  const line = Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n`)
  expect(() => {
    for (let sent = 0; sent <= maxEventLength; sent += line.length) manyLines.push(line)
  }).toThrow(OversizedEvent)
})

test('reads a long event in small pieces in linear time', () => {
  const event = Buffer.from(`data: ${'x'.repeat(8 * 1024 * 1024)}\n\n`)
  const started = performance.now()
  const decoder = new SseDecoder()
  let events = 0
  for (let i = 0; i < event.length; i += 512)
    events += decoder.push(event.subarray(i, i + 512)).length
  expect(events).toBe(1)
  expect(performance.now() - started).toBeLessThan(2000)
})

test('gives the same events for every cut of any text', () => {
  const piece = fc.constantFrom(
    'data: é😀',
    'data:',
    ':c',
    'event: e',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    'x',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), fc.array(fc.nat(200)), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''))
      const at = [...new Set(cuts.filter(cut => cut < bytes.length))].sort((a, b) => a - b)
      const parts = [0, ...at].map((start, i) => bytes.subarray(start, at[i] ?? bytes.length))
      expect(decode(...parts)).toEqual(decode(bytes))
    }),
    { numRuns: 500 },
  )
})

test('writes what it reads', () => {
  const json = JSON.stringify({ text: 'a\r\nb\u2028: data\n\n' })
  expect(decode(encodeSse(json) + encodeComment('still\r\nhere') + doneEvent)).toEqual([
    [null, json],
    [null, '[DONE]'],
  ])
})
