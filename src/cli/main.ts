#!/usr/bin/env node
/**
 * The `tollgate` command: the operator's way in where there is no browser. It reads what was typed, has it done and prints
 * what came of it; it decides nothing. Exit code 1: refused, or an audit that found something. 2: typed wrong.
 */
import { createRequire } from 'node:module'
import { type Command, CommanderError } from 'commander'
import { newCommand } from './command.ts'
import { type Refusal, toRefusal } from './refusal.ts'

/** Each in a file of its own, loaded only when it is meant. */
const nouns: Readonly<Record<string, readonly [string, () => Promise<Command>]>> = {
  serve: ['run the gateway', async () => (await import('./serve.ts')).serve()],
  account: ['accounts and their balances', async () => (await import('./account.ts')).account()],
  key: ['API keys', async () => (await import('./key.ts')).key()],
  models: ['what is for sale, and the prices', async () => (await import('./models.ts')).models()],
  providers: ['who is configured', async () => (await import('./providers.ts')).providers()],
  audit: ['check the money', async () => (await import('./audit.ts')).audit()],
  backup: ['copy the database', async () => (await import('./backup.ts')).backup()],
  restore: ['put a copy in its place', async () => (await import('./restore.ts')).restore()],
}

const about = `
Where a gateway runs on the database that DATABASE_URL names, a command is carried out by it and takes effect at once; else the
command opens the database itself. Settings come from the environment, or from .env in this folder.

\`tollgate <noun> --help\` says more. Exit code 1: refused. 2: typed wrong.
`

const buildProgram = async (meant: string | undefined): Promise<Command> => {
  const { version }: { version: string } = createRequire(import.meta.url)('../../package.json')
  const program = newCommand('tollgate', 'An AI gateway that is paid exactly once for each request')
    .version(version)
    .usage('<noun> <verb>')
    .helpCommand(true)
    .addHelpText('after', about)
  for (const [name, [description, load]] of Object.entries(nouns))
    program.addCommand(name === meant ? await load() : newCommand(name, description))
  return program
}

const run = async (argv: readonly string[]): Promise<void> => {
  const [first, second] = argv.filter(word => !word.startsWith('-'))
  const program = await buildProgram(first === 'help' ? second : first)
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    const json = argv.includes('--json')
    if (error instanceof CommanderError) failAsTyped(error, json, nameOf(program, argv))
    else say(1, toRefusal(error), json, '')
  }
}

/** As far as what was typed names a command: `tollgate account credit`. */
const nameOf = (program: Command, argv: readonly string[]): string => {
  const [word, ...rest] = argv
  const meant = program.commands.find(command => command.name() === word)
  return program.name() + (meant ? ` ${nameOf(meant, rest)}` : '')
}

/** Commander throws also when it has shown a help text: with 0 where it was asked for. */
const failAsTyped = (error: CommanderError, json: boolean, name: string): void => {
  if (error.exitCode === 0) return
  if (error.code === 'commander.help' && !json) process.exitCode = 2
  else {
    const message = error.message.replace(/^error: /, '')
    say(2, { code: 'usage', message }, json, `\nSee ${name} --help`)
  }
}

const say = (exitCode: number, error: Refusal, json: boolean, advice: string): void => {
  process.exitCode = exitCode
  process.stderr.write(`${json ? JSON.stringify({ error }) : error.message + advice}\n`)
}

// Whoever reads may stop early, as `head` does.
process.stdout.on('error', () => process.exit(process.exitCode))

await run(process.argv.slice(2))
