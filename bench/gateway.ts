/** Sets a gateway up as an operator would: a database, an account with credit, a key; then starts, checks, stops it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type ServerProcess, startLogged, stop } from './process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const creditUsd = 100_000

export type PreparedGateway = {
  readonly key: string
  start(): Promise<ServerProcess>
  /** Stops it; raises where it does not end with exit code 0. */
  stop(server: ServerProcess): Promise<void>
  /** After `stop`: what left the balance, in nano-USD. Raises where `tollgate audit` finds anything. */
  audit(): Promise<bigint>
}

/**
 * `folder` holds the database and the log; a CPU profile is written to `profileFolder` at each stop. Builds the
 * gateway where it is stale.
 */
export const prepareGateway = async (
  folder: string,
  upstreamUrl: string,
  profileFolder?: string,
): Promise<PreparedGateway> => {
  await promisify(execFile)(process.execPath, [join(root, 'build.mjs'), '--if-stale'])
  const settings = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    DATABASE_URL: `file:${resolve(folder, 'tollgate.db')}`,
    LOG_LEVEL: 'info',
    OPENAI_API_KEY: 'x',
    OPENAI_BASE_URL: `${upstreamUrl}/v1`,
    ANTHROPIC_API_KEY: 'x',
    ANTHROPIC_BASE_URL: upstreamUrl,
    GOOGLE_API_KEY: 'x',
    GOOGLE_BASE_URL: `${upstreamUrl}/v1beta`,
    MAX_CONCURRENT_REQUESTS: '10000',
    MAX_CONCURRENT_REQUESTS_PER_KEY: '10000',
  }
  const profiling = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${resolve(profileFolder)}`] : []
  const logFile = join(folder, 'gateway.log')
  const tollgate = (...args: string[]) => runCli(args, settings, folder)
  const account = await tollgate('account', 'create', '--name', 'bench', '--credit', `${creditUsd}`)
  const accountId = text(account, 'id')
  const key = text(
    await tollgate('key', 'create', '--account', accountId, '--name', 'bench'),
    'key',
  )
  return {
    key,
    start: async () => {
      const port = await freePort()
      const env = { ...settings, HOST: '127.0.0.1', PORT: `${port}` }
      const child = startLogged([...profiling, join(dist, 'main.js')], env, logFile)
      const server = { port, child }
      await ready(server, logFile)
      return server
    },
    stop: async ({ child }) => {
      const code = await stop(child)
      if (code !== 0) throw new Error(`the gateway ended with ${code}:\n${logEnd(logFile)}`)
    },
    audit: async () => {
      await tollgate('audit')
      const shown = await tollgate('account', 'show', accountId)
      return BigInt(creditUsd) * 1_000_000_000n - nanoUsd(text(shown, 'balance'))
    },
  }
}

const runCli = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Record<string, unknown>> => {
  const command = [join(dist, 'cli', 'main.js'), ...args, '--json']
  const { stdout } = await promisify(execFile)(process.execPath, command, { env, cwd })
  return JSON.parse(stdout)
}

const text = (result: Record<string, unknown>, field: string): string => {
  const value = result[field]
  if (typeof value !== 'string') throw new Error(`no ${field} in ${JSON.stringify(result)}`)
  return value
}

/** A decimal string of USD, exactly. */
const nanoUsd = (usd: string): bigint => {
  const [whole = '0', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(9, '0').slice(0, 9))
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject()))
    })
  })

const ready = async ({ child, port }: ServerProcess, logFile: string): Promise<void> => {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    if (child.exitCode !== null) break
    const response = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null)
    if (response?.ok) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`the gateway did not become ready:\n${logEnd(logFile)}`)
}

const logEnd = (logFile: string): string => readFileSync(logFile, 'utf8').slice(-2_000)
