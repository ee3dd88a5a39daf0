/** The shape of an API key: `tg_` + 32 random base62 digits + 6 base62 digits of the CRC-32 of what stands before. */
import { createHash } from 'node:crypto'

export type Random = (size: number) => Uint8Array

const prefix = 'tg_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomDigits = 32
const checkDigits = 6
const length = prefix.length + randomDigits + checkDigits
/** The largest multiple of 62 in a byte: what lies above would favour the first digits, so it is thrown away. */
const fairBelow = 248

/** 190 random bits. */
export const mintKey = (random: Random): string => {
  let key = prefix
  while (key.length < prefix.length + randomDigits) {
    for (const byte of random(randomDigits)) {
      if (byte < fairBelow && key.length < prefix.length + randomDigits)
        key += alphabet[byte % alphabet.length]
    }
  }
  return key + checksumOf(key, key.length)
}

const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomDigits + checkDigits}}$`)

/** Prefix, length, alphabet and checksum; says nothing about whether the key exists. */
export const hasKeyShape = (secret: string): boolean => {
  if (secret.length !== length || !shape.test(secret)) return false
  return secret.endsWith(checksumOf(secret, length - checkDigits))
}

/** SHA-256, hex: what is stored. 190 random bits need no slow hash. */
export const hashKey = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** `tg_ab12…wxyz`: what is displayed. */
export const hintOf = (secret: string): string =>
  `${secret.slice(0, prefix.length + 4)}…${secret.slice(-4)}`

const checksumOf = (text: string, end: number): string => {
  let value = crc32(text, end)
  let digits = ''
  for (let digit = 0; digit < checkDigits; digit++) {
    digits = alphabet[value % alphabet.length] + digits
    value = Math.floor(value / alphabet.length)
  }
  return digits
}

/** CRC-32 as in zlib, whose own came with Node 22.2 only. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc >>> 0
})

const crc32 = (text: string, end: number): number => {
  let crc = 0xffffffff
  for (let index = 0; index < end; index++) {
    crc = (crcTable[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8)
  }
  return (crc ^ 0xffffffff) >>> 0
}
