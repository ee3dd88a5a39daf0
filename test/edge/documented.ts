/** The document that a gateway publishes, as a judge of what it answers. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema, OpenApiDocument } from '../../src/edge/openapi.ts'

export const readDocument = async (url: string): Promise<OpenApiDocument> => {
  const response = await fetch(`${url}/openapi.json`)
  // As the gateway's own types promise; its own validity is tested apart.
  return (await response.json()) as OpenApiDocument
}

/** An object takes no field that is not described, unless it says that it is open. */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]))
  const isObject = 'properties' in copy && !('additionalProperties' in copy)
  return isObject ? { ...copy, additionalProperties: false } : copy
}

/** What is wrong with a value, by the shape of that name; empty where nothing is. */
export type Judge = (name: string, value: unknown) => string[]

export const judgeBy = ({ components }: OpenApiDocument): Judge => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  const schemas = closed(components.schemas) as Record<string, JsonSchema>
  ajv.addSchema({ components: { schemas } }, 'document')
  return (name, value) => {
    const validate = ajv.getSchema(`document#/components/schemas/${name}`)
    if (validate === undefined) return [`No shape ${name}`]
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    )
  }
}
