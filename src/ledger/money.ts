export const parseUsd = (_text: string, _options?: { signed?: boolean }): bigint => {
  throw new Error('not yet')
}

export const formatUsd = (_nanoUsd: bigint): string => {
  throw new Error('not yet')
}
