/** Starts a worker thread from our own source, compiled or not. */
import { Worker } from 'node:worker_threads'

export type ThreadOptions = { workerData?: unknown; name?: string }

const compiled = import.meta.url.endsWith('.js')

/**
 * `url` is written as the source has it: `new URL('./writer-thread.ts', import.meta.url)`. The compiler rewrites
 * imports but not URLs, so the ending is put right here. Node 20 can't load TypeScript in a worker, even with tsx in
 * `execArgv` (https://github.com/privatenumber/tsx/issues/354), so sources register it inside the thread.
 */
export const startThread = (url: URL, { workerData, name }: ThreadOptions = {}): Worker => {
  const options = { workerData, ...(name === undefined ? {} : { name }) }
  if (compiled) return new Worker(new URL(url.href.replace(/\.ts$/, '.js')), options)
  const [tsx, source] = [import.meta.resolve('tsx/esm/api'), url.href].map(href =>
    JSON.stringify(href),
  )
  const code = `import(${tsx}).then(({ register }) => { register(); return import(${source}) })`
  return new Worker(code, { ...options, eval: true })
}
