/** A reporter: lists every skipped test with its reason, and fails CI on one that `may-skip.json` does not list. */
import { readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export type MaySkip = { test: string; reason: string }
export type Skipped = { name: string; reason: string }

/** `test` is the whole name (`file > suite > test`) or the beginning of one. */
export const notAllowed = (skipped: readonly Skipped[], allowed: readonly MaySkip[]): Skipped[] =>
  skipped.filter(({ name }) => !allowed.some(({ test }) => test !== '' && name.startsWith(test)))

const readMaySkip = (): MaySkip[] => {
  const list: unknown = JSON.parse(
    readFileSync(new URL('./may-skip.json', import.meta.url), 'utf8'),
  )
  if (!Array.isArray(list)) throw new Error('test/may-skip.json is no list')
  return list.map(({ test, reason }: Record<string, unknown>) => {
    if (typeof test !== 'string' || typeof reason !== 'string' || test === '' || reason === '')
      throw new Error('An entry of test/may-skip.json lacks `test` or `reason`')
    return { test, reason }
  })
}

const skippedIn = (module: TestModule): Skipped[] =>
  [...module.children.allTests('skipped')].map(test => {
    const result = test.result()
    const note = result.state === 'skipped' ? result.note : undefined
    return {
      name: `${module.relativeModuleId} > ${test.fullName}`,
      reason: note ?? 'no reason given',
    }
  })

export default class Skips implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap(skippedIn)
    if (skipped.length === 0) return
    console.log(`\nSkipped (${skipped.length}):`)
    for (const { name, reason } of skipped) console.log(`  ${name}: ${reason}`)
    const refused = process.env.CI ? notAllowed(skipped, readMaySkip()) : []
    if (refused.length === 0) return
    console.log(
      '\nNot in test/may-skip.json, so this run fails. Make them run, or list them there with a reason:',
    )
    for (const { name } of refused) console.log(`  ${name}`)
    process.exitCode = 1
  }
}
