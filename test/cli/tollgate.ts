/** Runs the real command as a process of its own, as it is built: in `dist/` where that is fresh, else for this test. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

const newestMs = (path: string): number => {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => newestMs(join(path, name))))
}

/** Elsewhere than in `dist/`, which others may be running; with what the program looks for beside it. */
const build = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-built-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'migrations', 'node_modules'])
    symlinkSync(join(root, name), join(folder, name))
  const dist = join(folder, 'dist')
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  spawnSync(process.execPath, [
    ...[compiler, '-p', join(root, 'tsconfig.build.json')],
    ...['--outDir', dist, '--noEmitOnError', 'false'],
  ])
  return dist
}

const dist = join(root, 'dist')
const built = join(dist, 'cli/main.js')
const isFresh = existsSync(built) && statSync(built).mtimeMs >= newestMs(join(root, 'src'))
const command = join(isFresh ? dist : build(), 'cli/main.js')

export type Ran = { code: number; stdout: string; stderr: string }

/** The fields that tests read by name; which of them are there is up to the command. */
export type Answer = {
  id: string
  key: string
  balance: string
  replaced: string
  data: { id: string; name: string }[]
}

export type Tollgate = {
  folder: string
  database: string
  run: (...args: string[]) => Promise<Ran>
  /** Runs it with `--json`; the object on standard output. Throws where the exit code is not 0. */
  json: (...args: string[]) => Promise<Answer>
  /** Runs it with `--json`; the error on standard error. Throws where nothing was refused. */
  refusal: (...args: string[]) => Promise<{ code: string; message: string; exitCode: number }>
  remove: () => Promise<void>
}

/** In a folder of its own, with no settings but these. */
export const tollgateIn = async (env: Record<string, string> = {}): Promise<Tollgate> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cli-'))
  const database = join(folder, 'data/tollgate.db')
  const settings = { PATH: process.env['PATH'], DATABASE_URL: `file:${database}`, ...env }
  const run = (...args: string[]) =>
    new Promise<Ran>(resolve => {
      const options = { cwd: folder, env: settings }
      execFile(process.execPath, [command, ...args], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
      )
    })
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    if (code !== 0 || stderr !== '') throw new Error(`${args.join(' ')}: ${code} ${stderr}`)
    return JSON.parse(stdout)
  }
  const refusal = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    if (code === 0 || stdout !== '') throw new Error(`${args.join(' ')}: ${code} ${stdout}`)
    return { ...JSON.parse(stderr).error, exitCode: code }
  }
  const remove = () => rm(folder, { recursive: true, force: true })
  return { folder, database, run, json, refusal, remove }
}
