/** A JSON schema as a list of fields for people. */
import { type Html, html, joined, nothing } from './html.ts'
import type { JsonSchema } from './openapi.ts'
import { inline } from './prose.ts'

export type Schemas = Readonly<Record<string, JsonSchema>>

/** Deeper than any of our own shapes. */
const deepest = 5

const resolved = (schema: JsonSchema, schemas: Schemas): JsonSchema => {
  const name = schema.$ref?.slice('#/components/schemas/'.length)
  return name === undefined ? schema : { ...schemas[name], ...schema }
}

/** A type may be a list of types. */
const typesOf = ({ type }: JsonSchema): readonly string[] =>
  type === undefined ? [] : typeof type === 'string' ? [type] : type

const isNull = (schema: JsonSchema): boolean => typesOf(schema).includes('null')

const takesNull = (schema: JsonSchema, schemas: Schemas): boolean => {
  const { anyOf = [] } = resolved(schema, schemas)
  return isNull(resolved(schema, schemas)) || anyOf.some(each => takesNull(each, schemas))
}

/** The alternatives of a schema, `null` left out. */
const alternatives = (schema: JsonSchema, schemas: Schemas): JsonSchema[] => {
  const { anyOf } = resolved(schema, schemas)
  if (anyOf === undefined) return [resolved(schema, schemas)]
  return anyOf.filter(each => each.type !== 'null').flatMap(each => alternatives(each, schemas))
}

const typeName = (schema: JsonSchema, schemas: Schemas): string =>
  [
    ...new Set(
      alternatives(schema, schemas).flatMap(each => {
        if (each.const !== undefined) return JSON.stringify(each.const)
        const types = typesOf(each).filter(type => type !== 'null')
        if (types[0] === 'array' && each.items) return `array of ${typeName(each.items, schemas)}s`
        return types.length === 0 ? 'any' : types
      }),
    ),
  ].join(' or ')

/** The fields below a schema: its own, or those of what it is a list of. */
const fieldsBelow = (schema: JsonSchema, schemas: Schemas): JsonSchema | undefined => {
  for (const each of alternatives(schema, schemas)) {
    if (each.properties && Object.keys(each.properties).length > 0) return each
    const below = each.items && fieldsBelow(each.items, schemas)
    if (below) return below
  }
  return undefined
}

const valuesOf = (schema: JsonSchema, schemas: Schemas): Html => {
  const values = alternatives(schema, schemas)
    .flatMap(each => each.enum ?? [])
    .filter(value => value !== null)
  if (values.length === 0) return nothing
  const codes = values.map(value => html`<code>${String(value)}</code>`)
  return html`<p class="values">One of ${joined(codes, ', ')}</p>`
}

export type Field = {
  name: string
  schema: JsonSchema
  required: boolean
  description: string | undefined
}

/** What is sent must know what is required; what is read, what may be missing. */
export type Reading = { schemas: Schemas; of: 'request' | 'answer' }

const markOf = (required: boolean, { of }: Reading): Html => {
  if (of === 'request') return required ? html` <span class="required">required</span>` : nothing
  return required ? nothing : html` <span class="type">· may be missing</span>`
}

export const fieldRow = (field: Field, reading: Reading, depth = 0): Html => {
  const { name, schema, required, description } = field
  const { schemas } = reading
  const below = depth < deepest ? fieldsBelow(schema, schemas) : undefined
  return html`<div class="field"><dt><code>${name}</code> <span class="type">${typeName(schema, schemas)}${takesNull(schema, schemas) ? ' or null' : ''}</span>${markOf(required, reading)}</dt><dd>${description ? html`<p>${inline(description)}</p>` : nothing}${valuesOf(schema, schemas)}${
    below
      ? html`<details><summary>Fields</summary>${fieldList(below, reading, depth + 1)}</details>`
      : nothing
  }</dd></div>`
}

const descriptionOf = (schema: JsonSchema, schemas: Schemas): string | undefined =>
  resolved(schema, schemas).description ??
  alternatives(schema, schemas).find(({ description }) => description)?.description

export const fieldList = (schema: JsonSchema, reading: Reading, depth = 0): Html => {
  const { schemas } = reading
  const { properties = {}, required = [] } = resolved(schema, schemas)
  const rows = Object.entries(properties).map(([name, property]) => {
    const description = descriptionOf(property, schemas)
    const field = { name, schema: property, required: required.includes(name), description }
    return fieldRow(field, reading, depth)
  })
  return html`<dl>${joined(rows)}</dl>`
}
