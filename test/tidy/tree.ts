/** Rules about the tree itself: names of folders, what a committed text may mention, where tests live, skips. */
import { at, child, dotted, type Finding, type Source, walk } from './source.ts'

const nounless = ['utils', 'util', 'helpers', 'services', 'common', 'types', 'misc']

export const foldersAreNouns = (path: string): Finding[] =>
  path
    .split('/')
    .slice(0, -1)
    .filter(folder => nounless.includes(folder))
    .map(folder => ({
      path,
      line: 1,
      message: `${folder}/ names no thing. Move the file to the noun it serves.`,
    }))

// Written in pieces, so that these rules don't find themselves.
const machinePath = new RegExp(
  `(?<![\\w.:/~$}-])/(?:${['work', 'root', 'tmp', 'home', 'Users'].join('|')})/`,
)
const registryHost = new RegExp(
  `\\bregistry\\.(?:npm${'js'}|yarn${'pkg'}|npm${'mirror'})\\b|"${'resolved'}": "http`,
)

/** A committed text names no path of one machine, and no registry host: both differ on the next machine. */
export const namesNoMachine = (path: string, text: string): Finding[] =>
  text.split('\n').flatMap((line, index) => {
    const place = line.match(machinePath)?.[0]
    if (place) {
      const message = `${place} is a path of one machine. Use os.tmpdir(), a setting or a path from the root of the project.`
      return [{ path, line: index + 1, message }]
    }
    if (!registryHost.test(line)) return []
    const message =
      'A registry host. The lock file names none: see .npmrc (omit-lockfile-registry-resolved).'
    return [{ path, line: index + 1, message }]
  })

/** Folders of `test/` that mirror nothing, each for a reason. */
const testsOnly = [
  // These rules.
  'tidy',
  // What upstreams answer.
  'fixtures',
  // An upstream with a ledger of its own, the oracle for money.
  'upstream',
  // The gateway as a process: start, stop, kill, the official SDKs.
  'journey',
]

/** `test/x/` mirrors `src/x/`. */
export const testsMirrorSource = (path: string, layers: ReadonlySet<string>): Finding[] => {
  const folder = path.match(/^test\/([^/]+)\//)?.[1]
  if (folder === undefined || layers.has(folder) || testsOnly.includes(folder)) return []
  const message = `src/${folder}/ is not there. Move the test beside what it tests, or name the folder in testsOnly of test/tidy/tree.ts.`
  return [{ path, line: 1, message }]
}

const switchedOff = /^(test|it|describe|suite|bench)(\.\w+)*\.(only|skip|todo|skipIf|runIf|fails)$/

/** No test is switched off, or others by it, in the source. A machine that lacks something skips with a reason. */
export const testsAreOn = (source: Source): Finding[] => {
  if (!source.path.startsWith('test/') || source.path === 'test/where.ts') return []
  const found: Finding[] = []
  walk(source.program, node => {
    const name = node.type === 'MemberExpression' ? dotted(node) : undefined
    if (name && switchedOff.test(name) && child(node, 'object'))
      found.push(
        at(
          source,
          node,
          `${name} hides tests. Use describeWhere of test/where.ts, which says the reason.`,
        ),
      )
  })
  return found
}
