/** The kinds of values that answers are made of. */
import { z } from 'zod'

/** A sum, as `formatUsd` writes it. */
export const usd = (description: string) =>
  z
    .string()
    .regex(/^-?\d+(\.\d{1,9})?$/)
    .describe(`${description} USD, as a decimal string.`)

/** A price or a rate, which may need more places than a sum has. */
export const usdRate = (description: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .describe(description)

export const instant = (description: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .describe(`${description} ISO 8601, UTC.`)

/** Unix milliseconds → ISO 8601. */
export const toInstant = (timeMs: number): string => new Date(timeMs).toISOString()
