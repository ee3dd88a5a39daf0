/**
 * Compiles src/ into dist/. With --if-stale only where dist/ is missing or older than what it is made from, so that
 * `npm start` works on a fresh clone, and starts at once (and without the compiler) on a built one.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

process.chdir(import.meta.dirname)

const changedAtMs = path => {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  // A folder's own time tells of files that went.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => changedAtMs(join(path, name))))
}

const isFresh = () => {
  if (!existsSync('dist/main.js')) return false
  // The image has no sources: what it was built with is what it runs.
  if (!existsSync('src')) return true
  const made = statSync('dist/main.js').mtimeMs
  return ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'].every(
    path => changedAtMs(path) <= made,
  )
}

if (process.argv.includes('--if-stale') && isFresh()) process.exit(0)

const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
rmSync('dist', { recursive: true, force: true })
const { status } = spawnSync(
  process.execPath,
  [join(dirname(compiler), 'bin/tsc'), '-p', 'tsconfig.build.json'],
  { stdio: 'inherit' },
)
if (status === 0 && existsSync('dist/cli/main.js')) chmodSync('dist/cli/main.js', 0o755)
process.exit(status ?? 1)
