/**
 * JSON schemas as Anthropic's constrained decoding takes them. Keywords that it refuses become words in the
 * description, as Anthropic's own SDKs do it.
 * Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations (2026-11).
 */
import { isFields } from '../wire/fields.ts'

/** Their values are figures or flags that the decoder can't keep to. */
const untold = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
  'contains',
  'prefixItems',
  'patternProperties',
  'propertyNames',
])

/** Their values are maps from a name to a schema: the names are not keywords. */
const maps = new Set(['properties', '$defs', 'definitions'])
/** Their values are data, whatever it looks like. */
const data = new Set(['enum', 'const', 'default', 'examples', 'required'])

const isUntold = (key: string, value: unknown): boolean =>
  untold.has(key) || (key === 'minItems' && value !== 0 && value !== 1)

const trimMap = (map: unknown): unknown =>
  isFields(map)
    ? Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, strictSchema(schema)]))
    : map

/** A copy of the schema that the API takes. */
export const strictSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(strictSchema)
  if (!isFields(schema)) return schema
  const kept: Record<string, unknown> = {}
  const told: string[] = []
  for (const key in schema) {
    const value = schema[key]
    if (isUntold(key, value)) told.push(`${key}: ${JSON.stringify(value)}`)
    else if (maps.has(key)) kept[key] = trimMap(value)
    else kept[key] = data.has(key) ? value : strictSchema(value)
  }
  if (told.length > 0) {
    const before = typeof kept.description === 'string' ? `${kept.description}\n\n` : ''
    kept.description = `${before}{${told.join(', ')}}`
  }
  if (kept.type === 'object' || kept.properties !== undefined) kept.additionalProperties = false
  return kept
}
