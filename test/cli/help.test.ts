import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Tollgate, tollgateIn } from './tollgate.ts'

let tollgate: Tollgate
beforeAll(async () => {
  tollgate = await tollgateIn({ OPENAI_API_KEY: 'sk-canary', CLOUDFLARE_API_KEY: 'x' })
})
afterAll(() => tollgate.remove())

const account = [
  'create',
  'list',
  'show',
  'ledger',
  'credit',
  'adjust',
  'refund',
  'suspend',
  'resume',
]

const commands: [string, string[]][] = [
  ['', ['serve', 'account', 'key', 'models', 'providers', 'audit', 'backup', 'restore']],
  ['serve', ['tollgate serve']],
  ['account', account],
  ['account create', ['--json', '--name', '--credit', '--key-limit']],
  ['account list', ['--json', '--limit', '--after']],
  ['account show', ['--json', '<id>']],
  ['account ledger', ['--json', '--limit', '<id>']],
  ['account credit', ['--json', '--reference', '--note', '<usd>']],
  ['account adjust', ['--json', '--note', '-1.50']],
  ['account refund', ['--json', '--reference', '--note']],
  ['account suspend', ['--json', '<id>']],
  ['account resume', ['--json', '<id>']],
  ['key', ['create', 'list', 'disable', 'enable', 'revoke']],
  ['key create', ['--json', '--account', '--name']],
  ['key list', ['--json', '--account', '--limit', '--after']],
  ['key disable', ['--json', '<id>']],
  ['key enable', ['--json', '<id>']],
  ['key revoke', ['--json', '<id>']],
  ['models', ['--json', '--provider', '--search', '--all']],
  ['providers', ['--json']],
  ['audit', ['--json', 'exit code 1']],
  ['backup', ['--json', '<file>']],
  ['restore', ['--json', '<file>', 'audited']],
]

describe('help', () => {
  test.each(commands)('of "%s" tells its options and gives an example', async (name, words) => {
    const { code, stdout, stderr } = await tollgate.run(
      ...name.split(' ').filter(Boolean),
      '--help',
    )
    expect([code, stderr]).toEqual([0, ''])
    for (const word of words) expect(stdout).toContain(word)
    if (words.includes('--json')) expect(stdout).toContain(`Examples:\n  $ tollgate ${name}`)
  })

  test('says its version', async () => {
    expect((await tollgate.run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('what is typed wrong ends with 2 and', () => {
  const rows: [string[], RegExp][] = [
    [['acount'], /unknown command 'acount'\n\(Did you mean account\?\)\nSee tollgate --help/],
    [['account', 'nope'], /unknown command 'nope'\nSee tollgate account --help/],
    [['account', 'create'], /'--name <name>' not specified\nSee tollgate account create --help/],
    [['account', 'create', '--name', 'n', '--nope'], /unknown option '--nope'/],
    [['account', 'create', '--name', 'n', '--credit', '5,00'], /Not an amount of money/],
    [['account', 'create', '--name', 'n', '--key-limit', '1.5'], /whole number from 0 to 10000/],
    [['account', 'credit', 'acc_x', '-1', '--reference', 'r'], /Not an amount of money/],
    [['account', 'adjust', 'acc_x', '1e3', '--note', 'n'], /Not an amount of money/],
    [['account', 'refund', 'acc_x', '1', '--reference', 'r'], /'--note <note>' not specified/],
    [['account', 'show'], /missing required argument 'id'/],
    [['audit', 'more'], /too many arguments/],
    [['serve', 'more'], /too many arguments/],
    [['key'], /Usage: tollgate key/],
    [[], /Usage: tollgate/],
  ]
  test.each(rows)('%j says so', async (args, said) => {
    const { code, stdout, stderr } = await tollgate.run(...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(said)
  })

  test('is JSON where that was asked for', async () => {
    expect(await tollgate.refusal('account', 'show')).toEqual({
      code: 'usage',
      message: "missing required argument 'id'",
      exitCode: 2,
    })
  })
})

describe('without a database', () => {
  test('says that there is none, and makes none', async () => {
    const refused = await tollgate.refusal('account', 'list')
    expect(refused).toMatchObject({ code: 'no_database', exitCode: 1 })
    expect(await tollgate.refusal('audit')).toMatchObject({ code: 'no_database' })
  })

  test('names a wrong setting', async () => {
    const wrong = await tollgateIn({ PORT: 'eighty' })
    const { code, stderr } = await wrong.run('account', 'list')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/PORT: "eighty" is not allowed/)])
    await wrong.remove()
  })

  test('lists models with their prices', async () => {
    const { data } = await tollgate.json(
      'models',
      '--provider',
      'openai',
      '--search',
      'gpt-4o-mini',
    )
    expect(data).toContainEqual({
      id: 'openai/gpt-4o-mini',
      name: expect.any(String),
      provider: 'openai',
      available: true,
      context_length: 128_000,
      max_output_tokens: 16_384,
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      supports_tools: true,
      supports_reasoning: false,
      price: {
        version: expect.stringMatching(/^genai-prices@/),
        effective_from: null,
        tiers: [
          {
            above_prompt_tokens: 0,
            rates: expect.objectContaining({ input: '0.15', cache_read: '0.075', output: '0.6' }),
          },
        ],
        fees: expect.any(Object),
      },
    })
    const table = await tollgate.run('models', '--search', 'gpt-4o-mini')
    expect(table.stdout).toMatch(/^openai\/gpt-4o-mini +\$0\.15 +\$0\.60 +128000 +16384$/m)
    expect(table.stdout).not.toContain('groq/')
    const all = await tollgate.run('models', '--all', '--provider', 'groq')
    expect(all.stdout).toContain('not configured')
    expect(await tollgate.refusal('models', '--provider', 'nope')).toMatchObject({
      code: 'not_found',
    })
  })

  test('lists providers with what is missing, and no credential', async () => {
    const { stdout } = await tollgate.run('providers', '--json')
    expect(stdout).not.toContain('sk-canary')
    const { data } = JSON.parse(stdout)
    const find = (id: string) => data.find((provider: { id: string }) => provider.id === id)
    expect(find('openai')).toMatchObject({ configured: true, missing: [] })
    expect(find('groq')).toMatchObject({ configured: false, missing: ['GROQ_API_KEY'] })
    expect(find('cloudflare')).toMatchObject({ missing: ['CLOUDFLARE_BASE_URL'] })
    expect(find('demo')).toMatchObject({ configured: true, base_url: null, models: 2 })
    expect((await tollgate.run('providers')).stdout).toMatch(/^groq +Groq +set GROQ_API_KEY +\d+ /m)
  })
})
