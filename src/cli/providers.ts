import type { Command } from 'commander'
import { settingPrefix } from '../config.ts'
import { type ConfiguredProvider, splitBaseUrl } from '../providers/configured-provider.ts'
import { readCatalogue } from './catalogue.ts'
import { type JsonOption, newVerb } from './command.ts'
import { count, print, table } from './output.ts'

export const providers = (): Command =>
  newVerb('providers', 'List the providers, and what is missing to use them', [
    'tollgate providers',
    "tollgate providers --json | jq -r '.data[] | select(.configured) | .id'",
  ]).action(async (options: JsonOption) => {
    const { catalogue, providers } = await readCatalogue()
    const models = new Map<string, number>()
    for (const { provider } of catalogue.list({ all: true }))
      models.set(provider.provider.id, (models.get(provider.provider.id) ?? 0) + 1)
    const data = [...providers.values()].map(configured => ({
      id: configured.provider.id,
      name: configured.provider.name,
      configured: configured.available,
      missing: missingSettings(configured),
      base_url: configured.provider.answerInProcess
        ? null
        : configured.origin + configured.basePath,
      models: models.get(configured.provider.id) ?? 0,
    }))
    print(options, { data }, () => providerTable(data))
  })

/** The settings without which it can't be called. */
const missingSettings = (configured: ConfiguredProvider): string[] => {
  const { provider, apiKeys, origin, basePath, available } = configured
  if (available) return []
  const missing: string[] = []
  if (provider.apiKeyEnv !== null && apiKeys.length === 0) missing.push(provider.apiKeyEnv)
  const example = splitBaseUrl(provider.baseUrl)
  const unplaced = origin === example.origin && basePath === example.basePath
  if (provider.needsBaseUrl === true && unplaced)
    missing.push(`${settingPrefix(provider.id)}BASE_URL`)
  return missing
}

type Row = {
  id: string
  name: string
  configured: boolean
  missing: string[]
  base_url: string | null
  models: number
}

const providerTable = (rows: readonly Row[]): string => {
  const lines = rows.map(({ id, name, configured, missing, base_url, models }) => [
    id,
    name,
    configured ? 'ready' : `set ${missing.join(', ')}`,
    `${models}`,
    base_url ?? 'in this process',
  ])
  const ready = rows.filter(({ configured }) => configured).length
  const total = `${count(rows.length, 'provider', 'providers')}, ${ready} ready`
  return `${table(['ID', 'NAME', 'STATE', 'MODELS', 'BASE URL'], lines)}\n\n${total}`
}
