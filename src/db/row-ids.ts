const timeDigits = 9
const sequenceDigits = 3
const sequenceEnd = 36 ** sequenceDigits
const randomDigits = 8
const poolBytes = 1_024
// 32 of them: a byte's lowest five bits choose one without bias.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Ids that sort by the time they were made: prefix, milliseconds, sequence, 40 random bits. Ascending within a process
 * whatever the clock does, so that new rows go to the end of an index.
 */
export const rowIds = (
  prefix: string,
  clock: () => number,
  random: (size: number) => Uint8Array,
): (() => string) => {
  let lastMs = 0
  let sequence = 0
  let head = ''
  let pool: Uint8Array = new Uint8Array()
  let used = 0

  return () => {
    const nowMs = clock()
    if (nowMs > lastMs || ++sequence === sequenceEnd) {
      lastMs = Math.max(nowMs, lastMs + 1)
      sequence = 0
      head = prefix + lastMs.toString(36).padStart(timeDigits, '0')
    }
    if (used + randomDigits > pool.length) {
      pool = random(poolBytes)
      used = 0
    }
    let id = head + sequence.toString(36).padStart(sequenceDigits, '0')
    for (let digit = 0; digit < randomDigits; digit++) id += alphabet[(pool[used++] ?? 0) & 31]
    return id
  }
}
