/** The gateway as it is run: a process of its own, started from what `npm run build` made, that can be killed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export type GatewayProcess = {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** SIGKILL, in this very moment. */
  kill: () => void
  running: () => boolean
  /** Resolves when the process is gone. */
  gone: Promise<void>
}

/** Compiles where `dist/` is missing or older than its sources. */
export const buildWhereStale = (): void => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'build.mjs'), '--if-stale'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The gateway does not build:\n${stdout}`)
}

/** Resolves when it says that it is ready. The folder is its working folder: no `.env` of the checkout reaches it. */
export const startGatewayProcess = async (
  folder: string,
  env: Record<string, string>,
): Promise<GatewayProcess> => {
  const child = spawn(process.execPath, [join(root, 'dist/main.js')], {
    cwd: folder,
    env: { HOST: '127.0.0.1', PORT: '0', NODE_ENV: 'production', LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const url = await readyUrl(child)
  return {
    url,
    kill: () => child.kill('SIGKILL'),
    running: () => child.exitCode === null && child.signalCode === null,
    gone,
  }
}

const startTimeoutMs = 15_000

const readyUrl = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    const fail = (why: string) => {
      child.kill('SIGKILL')
      reject(new Error(`The gateway ${why}:\n${said}`))
    }
    const timer = setTimeout(() => fail('did not start in time'), startTimeoutMs)
    const ended = () => fail('ended')
    child.once('exit', ended)
    const listen = (text: string) => {
      said = (said + text).slice(-10_000)
      const url = /ready: (http:\/\/\S+)\/v1\n/.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      child.off('exit', ended)
      resolve(url)
    }
    child.stdout?.setEncoding('utf8').on('data', listen)
    child.stderr?.setEncoding('utf8').on('data', listen)
  })
