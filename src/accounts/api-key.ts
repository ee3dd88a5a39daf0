export type Random = (size: number) => Uint8Array

export const mintKey = (_random: Random): string => {
  throw new Error('not yet')
}

/** Prefix, length, alphabet and checksum; says nothing about whether the key exists. */
export const hasKeyShape = (_secret: string): boolean => {
  throw new Error('not yet')
}

/** SHA-256, hex. */
export const hashKey = (_secret: string): string => {
  throw new Error('not yet')
}

/** `tg_ab12…wxyz`. */
export const hintOf = (_secret: string): string => {
  throw new Error('not yet')
}
