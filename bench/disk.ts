import { closeSync, fdatasync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** How long this disk takes to make one 4 KiB append durable: what no commit can beat. Milliseconds each. */
export const measureSync = async (folder: string, count: number): Promise<number[]> => {
  const path = join(folder, 'sync-probe')
  const file = openSync(path, 'a')
  const page = Buffer.alloc(4096, 1)
  const took: number[] = []
  for (let round = 0; round < count; round++) {
    writeSync(file, page)
    const startedAt = performance.now()
    await promisify(fdatasync)(file)
    took.push(performance.now() - startedAt)
  }
  closeSync(file)
  rmSync(path)
  return took
}
