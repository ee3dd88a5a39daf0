import { rowIds } from '../db/row-ids.ts'

/** Makes ids of generations, `gen-…`: ascending within a process, whatever the clock (Unix milliseconds) does. */
export const generationIds = (
  clock: () => number,
  random: (size: number) => Uint8Array,
): (() => string) => rowIds('gen-', clock, random)
