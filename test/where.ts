/** Tests of what a machine may lack. They are skipped by name and with the reason; `may-skip.json` lists the ones CI accepts. */
import { describe, test } from 'vitest'

type Body = () => void

/** A suite that runs where `present`; elsewhere one skipped test stands for it, and its body is not entered. */
export const describeWhere =
  (present: boolean, reason: string) =>
  (name: string, body: Body): void => {
    if (present) describe(name, body)
    else test(name, ({ skip }) => skip(reason))
  }
