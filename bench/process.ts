/** The processes that a benchmark measures: start, stop, CPU and memory. Linux only: it reads /proc. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type ServerProcess = { readonly port: number; readonly child: ChildProcess }

const running = new Set<ChildProcess>()

/** Starts one of our own TypeScript servers; it prints `{"port": N}` when it listens. */
export const startScript = async (
  url: string,
  args: readonly string[] = [],
): Promise<ServerProcess> => {
  const command = ['--import', 'tsx', fileURLToPath(url), ...args]
  const child = launch(command, process.env, ['ignore', 'pipe', 'inherit'])
  const { stdout } = child
  if (stdout === null) throw new Error(`${url} has no output`)
  for await (const line of createInterface({ input: stdout })) {
    const { port }: { port: number } = JSON.parse(line)
    return { port, child }
  }
  throw new Error(`${url} ended before it listened`)
}

/** Starts any Node program with its output in `logFile`; the caller waits for it to listen. */
export const startLogged = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  logFile: string,
): ChildProcess => {
  const log = openSync(logFile, 'a')
  return launch(args, env, ['ignore', log, log])
}

const launch = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdio: ('ignore' | 'pipe' | 'inherit' | number)[],
): ChildProcess => {
  const child = spawn(process.execPath, args, { env, stdio })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** SIGTERM, and SIGKILL after 40 s. Resolves with the exit code, `null` where a signal ended it. */
export const stop = (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise(resolve => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 40_000)
    child.once('exit', code => {
      clearTimeout(timer)
      resolve(code)
    })
    child.kill('SIGTERM')
  })
}

/** For an end in disorder. */
export const killAll = (): void => {
  for (const child of running) child.kill('SIGKILL')
}

/**
 * Microseconds of CPU so far, user and system, of all threads. From each thread's `schedstat`, which counts
 * nanoseconds where `stat` counts hundredths of a second.
 */
export const cpuUs = ({ child }: ServerProcess): number => {
  const folder = `/proc/${child.pid}/task`
  let nanoseconds = 0
  for (const thread of readdirSync(folder)) {
    nanoseconds += Number.parseInt(readFileSync(`${folder}/${thread}/schedstat`, 'utf8'), 10)
  }
  return nanoseconds / 1000
}

export const rssBytes = (server: ServerProcess): number => statusBytes(server, 'VmRSS')
export const peakRssBytes = (server: ServerProcess): number => statusBytes(server, 'VmHWM')

const statusBytes = ({ child }: ServerProcess, field: string): number => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
}
