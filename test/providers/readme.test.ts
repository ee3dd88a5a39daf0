import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settingPrefix } from '../../src/config.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/registry.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

const settingOf = ({ id, apiKeyEnv, needsBaseUrl, answerInProcess }: Provider): string => {
  if (answerInProcess) return 'none'
  const baseUrl = needsBaseUrl ? `\`${settingPrefix(id)}BASE_URL\`` : null
  const parts = [apiKeyEnv === null ? null : `\`${apiKeyEnv}\``, baseUrl].filter(Boolean)
  return parts.join(' and ')
}

const pricesOf = ({ priceSources, ownModels }: Provider): string =>
  priceSources || ownModels ? 'yes' : 'by `PROVIDERS_FILE`'

const table = [
  '| provider | id | setting | priced |',
  '|---|---|---|---|',
  ...[...providers]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(one => `| ${one.name} | \`${one.id}\` | ${settingOf(one)} | ${pricesOf(one)} |`),
].join('\n')

test('the README names every provider with its id and its settings', () => {
  const [, stands = ''] =
    /<!-- providers:.*?-->\n+([\s\S]*?)\n+<!-- \/providers -->/.exec(readme) ?? []
  expect(stands.trim()).toBe(table)
})
