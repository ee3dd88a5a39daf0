import type { Command } from 'commander'
import { newCommand } from './command.ts'

export const serve = (): Command =>
  newCommand('serve', 'Run the gateway in this process; settings come from the environment or .env')
    .addHelpText('after', '\nExamples:\n  $ tollgate serve\n  $ PORT=9000 tollgate serve\n')
    .action(async () => {
      // Starts itself, and ends the process when told to.
      await import('../main.ts')
    })
