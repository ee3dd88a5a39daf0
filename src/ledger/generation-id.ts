/** `gen-` + time + sequence + random: ascending within a process, whatever the clock does. */
export const generationIds = (_clock: () => number, _random: (size: number) => Uint8Array): (() => string) => {
  throw new Error('not yet')
}
