/** Reading JSON that others wrote: nothing in it is taken for what it should be. */

export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = {}

/** Same bound as for what a client may ask: no real count comes near, and no price overflows below it. */
const maxCount = 100_000_000

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object's fields, none where it isn't one. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : noFields)

/** A text, empty where it isn't one. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A count: 0 where absent, -1 where it is not one. */
export const countOf = (value: unknown): number => {
  if (value === undefined || value === null) return 0
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxCount
    ? value
    : -1
}

/** Whether a field of a request asks for anything: SDKs send many as null or false. */
export const isSet = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== false
