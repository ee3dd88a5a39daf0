import type { Command } from 'commander'
import { call, readSettings } from './call.ts'
import { type JsonOption, newCommand, newVerb, wholeNumber } from './command.ts'
import type { ResultOf } from './operations.ts'
import { dollars, moreAfter, print, table, time } from './output.ts'

export const key = (): Command =>
  newCommand('key', 'API keys, with which requests are sent')
    .addCommand(create())
    .addCommand(list())
    .addCommand(change('disable', 'Refuse an API key from the next request on, until enabled'))
    .addCommand(change('enable', 'Take a disabled API key again'))
    .addCommand(change('revoke', 'Refuse an API key from the next request on, for good'))

const create = (): Command =>
  newVerb('create', 'Create an API key and print it, this once', [
    'tollgate key create --account acc_0mwq5e7uu000hcbqv61g --name laptop',
    'tollgate key create --account acc_0mwq5e7uu000hcbqv61g --name ci --json | jq -r .key',
  ])
    .requiredOption('--account <id>', 'whose balance it spends')
    .requiredOption('--name <name>', 'what it is called, unlike the other live keys of the account')
    .action(async (options: JsonOption & { account: string; name: string }) => {
      const { account, name } = options
      const created = await call('key create', { account, name })
      print(options, created, () => welcomeOf(created))
    })

/** The key stands there once; the line below it takes it from the shell, so that both can be pasted together. */
const welcomeOf = ({ id, key }: ResultOf<'key create'>): string => {
  const { publicUrl, host, port } = readSettings()
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const baseUrl = `${publicUrl ?? `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`}/v1`
  return `Created ${id}. This is the key; it is kept nowhere and never shown again:

TOLLGATE_API_KEY=${key}

Try it where a gateway runs:

curl -N ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "demo/tollgate", "stream": true, "messages": [{"role": "user", "content": "Hello!"}]}'`
}

type ListOptions = JsonOption & { account?: string; limit?: number; after?: string }

const list = (): Command =>
  newVerb('list', 'List API keys, oldest first', [
    'tollgate key list',
    'tollgate key list --account acc_0mwq5e7uu000hcbqv61g --json',
  ])
    .option('--account <id>', 'only those of this account')
    .option('--limit <n>', 'how many at most (default: 1000)', wholeNumber(1, 10_000))
    .option('--after <id>', 'only those that come after this one')
    .action(async (options: ListOptions) => {
      const { account, limit, after } = options
      const keys = await call('key list', { account, limit, after })
      print(options, keys, () => keyTable(keys))
    })

const keyTable = (keys: ResultOf<'key list'>): string => {
  if (keys.data.length === 0) return 'No keys. Make one: tollgate key create --account … --name …'
  const rows = keys.data.map(key => [
    key.id,
    key.account_id,
    key.name,
    key.hint,
    key.state,
    dollars(key.usage),
    time(key.last_used_at),
    time(key.created_at),
  ])
  const titles = ['ID', 'ACCOUNT', 'NAME', 'KEY', 'STATE', 'USED', 'LAST USED', 'CREATED']
  return table(titles, rows) + moreAfter(keys)
}

const change = (verb: 'disable' | 'enable' | 'revoke', description: string): Command =>
  newVerb(verb, description, [`tollgate key ${verb} key_0mwq5e7ve0000xsgcfbz`])
    .argument('<id>', 'the key, as `tollgate key list` names it')
    .action(async (id: string, options: JsonOption) => {
      const changed = await call(`key ${verb}`, { id })
      print(options, changed, () => `${id} (${changed.hint}) is ${changed.state}.`)
    })
