import type { Command } from 'commander'
import { formatUsd } from '../ledger/money.ts'
import type { Model } from '../models/model.ts'
import { readCatalogue } from './catalogue.ts'
import { type JsonOption, newVerb } from './command.ts'
import { count, dollars, print, table } from './output.ts'
import { CommandError } from './refusal.ts'

type Options = JsonOption & { provider?: string; search?: string; all?: true }

export const models = (): Command =>
  newVerb('models', 'List what is for sale with the settings of this environment, and the prices', [
    'tollgate models --search mini',
    'tollgate models --provider openai --all --json',
  ])
    .option('--provider <id>', 'only those of this provider')
    .option('--search <words>', 'only those with all these words in id or name')
    .option('--all', 'also those whose provider is not configured')
    .action(async (options: Options) => {
      const { provider, search, all = false } = options
      const { catalogue, providers, config } = await readCatalogue()
      if (provider !== undefined && !providers.has(provider)) throw noProvider(provider)
      const found = catalogue.list({
        all,
        ...(provider === undefined ? {} : { provider }),
        ...(search === undefined ? {} : { query: search }),
      })
      const data = found.map(describe).sort((a, b) => (a.id < b.id ? -1 : 1))
      const markup = config.markupBasisPoints
      print(options, { markup_basis_points: markup, data }, () => modelTable(data, markup))
    })

const noProvider = (id: string): CommandError =>
  new CommandError('not_found', `There is no provider ${id}. \`tollgate providers\` lists them.`)

/** Rates in USD per million tokens, fees in USD each, without the gateway's mark-up. */
const describe = (model: Model) => ({
  id: model.id,
  name: model.name,
  provider: model.provider.provider.id,
  available: model.provider.available,
  context_length: model.contextWindow,
  max_output_tokens: model.maxOutputTokens,
  input_modalities: model.inputModalities,
  output_modalities: model.outputModalities,
  supports_tools: model.supportsTools,
  supports_reasoning: model.supportsReasoning,
  price: {
    version: model.price.version,
    effective_from: model.price.effectiveFrom,
    tiers: model.price.tiers.map(({ abovePromptTokens, rates }) => ({
      above_prompt_tokens: abovePromptTokens,
      rates: inUsd(rates),
    })),
    fees: inUsd(model.price.fees),
  },
})

const inUsd = (amounts: Readonly<Record<string, bigint | undefined>>): Record<string, string> => {
  const result: Record<string, string> = {}
  for (const [name, nanoUsd] of Object.entries(amounts))
    if (nanoUsd !== undefined) result[snakeCase(name)] = formatUsd(nanoUsd)
  return result
}

/** `cacheWrite1h` → `cache_write_1h`, as the operator's providers file spells it. */
const snakeCase = (name: string): string =>
  name.replace(/[A-Z]|\d+/g, part => `_${part.toLowerCase()}`)

const modelTable = (models: readonly ReturnType<typeof describe>[], markup: number): string => {
  if (models.length === 0)
    return 'No models. Try --all, or `tollgate providers` to see what is configured.'
  const rows = models.map(({ id, price, context_length, max_output_tokens, available }) => {
    const { input = '', output = '' } = price.tiers[0]?.rates ?? {}
    return [
      id,
      dollars(input),
      dollars(output),
      `${context_length ?? '-'}`,
      `${max_output_tokens ?? '-'}`,
      available ? '' : 'not configured',
    ]
  })
  const titles = ['MODEL', 'INPUT/M', 'OUTPUT/M', 'CONTEXT', 'MAX OUTPUT', '']
  const more = markup === 0 ? '' : `, before a mark-up of ${markup / 100} %`
  const total = count(rows.length, 'model', 'models')
  return `${table(titles, rows)}\n\n${total}; USD per million tokens${more}`
}
