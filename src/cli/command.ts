import { Command, InvalidArgumentError } from 'commander'
import { GatewayError } from '../errors.ts'
import { parseUsd } from '../ledger/money.ts'

/** A noun or a verb. What was typed wrong is thrown to `main.ts`, which says it, in JSON where that was asked for. */
export const newCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} })

/** A command that does something: with `--json`, and examples at the end of its help. */
export const newVerb = (name: string, description: string, examples: readonly string[]): Command =>
  newCommand(name, description)
    .option('--json', 'print one JSON object on standard output, errors as JSON on standard error')
    .addHelpText('after', () => `\nExamples:\n${examples.map(line => `  $ ${line}\n`).join('')}`)

export type JsonOption = { json?: true }

/** An argument in USD; it stays a decimal string. */
export const usd =
  ({ signed }: { signed: boolean }) =>
  (text: string): string => {
    try {
      parseUsd(text, { signed })
      return text
    } catch (error) {
      throw new InvalidArgumentError(error instanceof GatewayError ? error.message : String(error))
    }
  }

export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`)
  }
