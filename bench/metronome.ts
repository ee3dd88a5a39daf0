import { Worker } from 'node:worker_threads'

/**
 * Calls `beat` at a fixed rate, with the time it was due (`performance.now()`), and resolves after the last. Timers
 * are too coarse for latencies below a millisecond, and to wait busily would take a core from what is measured: so a
 * thread sleeps to the microsecond and sends word.
 */
export const metronome = async (
  { perSecond, count }: { perSecond: number; count: number },
  beat: (dueAt: number) => void,
): Promise<void> => {
  const intervalMs = 1000 / perSecond
  // Time for the thread to start.
  const startsAt = performance.now() + 200
  const thread = new Worker(sleeper, {
    eval: true,
    workerData: { startsAt: performance.timeOrigin + startsAt, intervalMs, count },
  })
  await new Promise<void>((resolve, reject) => {
    thread.once('error', reject)
    thread.on('message', (index: number) => {
      beat(startsAt + index * intervalMs)
      if (index === count - 1) resolve()
    })
  })
  await thread.terminate()
}

const sleeper = `
  const { parentPort, workerData: { startsAt, intervalMs, count } } = require('node:worker_threads')
  const never = new Int32Array(new SharedArrayBuffer(4))
  for (let index = 0; index < count; index++) {
    const waitMs = startsAt + index * intervalMs - (performance.timeOrigin + performance.now())
    if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs)
    parentPort.postMessage(index)
  }`
