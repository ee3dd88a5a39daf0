/**
 * `npm run models:update`: makes `src/models/model-facts.json` anew from the second source, in a clone. Prints what
 * changed and where the sources disagree. `--accept <id>` (repeatable) lets a change through that is refused as wild;
 * `--from <folder>` reads an unpacked package instead of fetching it.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildStock } from '../models/build-catalogue.ts'
import { coverageOf } from '../models/coverage.ts'
import { changesBetween, refuseWild } from '../models/facts-guard.ts'
import { type FactsList, parseFactsList } from '../models/facts-lists.ts'
import { joinFacts } from '../models/join-facts.ts'
import { type ModelFacts, modelFactsFile, noFacts } from '../models/model-facts.ts'
import { loadPriceData } from '../models/price-data.ts'
import { configureProviders } from '../providers/configured-provider.ts'
import { providers } from '../providers/registry.ts'
import { table } from './output.ts'

/** MIT. Only its data is read: installing it would bring the vendors' SDKs. */
const source = { package: '@earendil-works/pi-ai', name: 'pi-ai', version: '1.5.2' }

const fetchPackage = (folder: string): string => {
  const spec = `${source.package}@${source.version}`
  const packed = execFileSync('npm', ['pack', '--silent', spec], { cwd: folder, encoding: 'utf8' })
  execFileSync('tar', ['xzf', packed.trim()], { cwd: folder })
  return join(folder, 'package')
}

const readLists = (folder: string): Map<string, FactsList> => {
  const data = join(folder, 'dist/providers/data')
  const files = readdirSync(data).filter(name => /^[a-z].*\.json$/.test(name))
  return new Map(
    files.map(name => [name.slice(0, -5), parseFactsList(readFileSync(join(data, name), 'utf8'))]),
  )
}

const withPackage = (given: string | undefined): Map<string, FactsList> => {
  if (given !== undefined) return readLists(given)
  const folder = mkdtempSync(join(tmpdir(), 'model-facts-'))
  try {
    return readLists(fetchPackage(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A line a model, so that a change reads as one. */
const toText = ({ version, models }: ModelFacts): string => {
  const lines = Object.entries(models).map(
    ([id, facts]) => `${JSON.stringify(id)}:${JSON.stringify(facts)}`,
  )
  return `{"version":${JSON.stringify(version)},"models":{\n${lines.join(',\n')}\n}}\n`
}

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const { values } = parseArgs({
  options: { accept: { type: 'string', multiple: true }, from: { type: 'string' } },
})
const prices = await loadPriceData()
const last = prices.facts.models
const never = { connectMs: 0, firstByteMs: 0, wholeFirstByteMs: 0, idleMs: 0, totalMs: 0 }
const sources = {
  providers: configureProviders(providers, new Map(), never),
  nowMs: Date.now(),
}
const stock = buildStock({ ...sources, prices: { ...prices, facts: noFacts } })
const { models, disagreements, doubtful } = joinFacts(stock, providers, withPackage(values.from))
const facts = { version: `${source.name}@${source.version}`, models }

const changes = changesBetween(models, last)
say(changes.join('\n') || 'No change.')
say(`\n${disagreements.length} figures differ by more than 1 % (ours: ${prices.version}):`)
for (const { id, what, ours, theirs } of disagreements)
  say(`  ${id} ${what}: ours ${ours}, theirs ${theirs}`)
say(`\n${doubtful.length} are not sold, for a doubtful price: ${doubtful.join(', ')}`)
const { rows, total } = coverageOf(buildStock({ ...sources, prices: { ...prices, facts } }).models)
say(
  `\n${table(
    ['PROVIDER', 'MODELS', 'PRICED', 'CONTEXT', 'MAX OUTPUT'],
    [...rows, total].map(row => Object.values(row).map(String)),
  )}`,
)

const refused = refuseWild(models, last, new Set(values.accept))
if (refused.length === 0) writeFileSync(modelFactsFile, toText(facts))
else {
  for (const [id, reason] of refused) process.stderr.write(`refused: ${id}: ${reason}\n`)
  process.stderr.write('Nothing was written. Where it is right: --accept <model id>\n')
  process.exitCode = 1
}
