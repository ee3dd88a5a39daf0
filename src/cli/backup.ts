import { resolve } from 'node:path'
import type { Command } from 'commander'
import { call } from './call.ts'
import { type JsonOption, newVerb } from './command.ts'
import { print } from './output.ts'

export const backup = (): Command =>
  newVerb('backup', 'Copy the database, consistent also while the gateway works', [
    'tollgate backup tollgate-backup.db',
  ])
    .argument('<file>', 'the copy; one that is there already is replaced')
    .action(async (file: string, options: JsonOption) => {
      // The gateway may have been started in another folder.
      const result = await call('backup', { file: resolve(file) })
      print(options, result, () => `Copied to ${result.file} (${result.size_bytes} bytes).`)
    })
