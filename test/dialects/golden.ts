/** Translations that others have made, in one form: what the client asked, and what they sent to the vendor. */
import { readJson } from '../recordings.ts'
import type { Json } from './proof.ts'

export type Golden = { name: string; input: Json; request: Json }

type LinguaCase = { case: string; input: Json; golden_provider_request: Json }
type AgentgatewayCase = { case: string; input: Json; golden: Record<string, { request?: Json }> }

export const linguaGoldens = (vendor: string): Golden[] =>
  (readJson(`lingua/golden/chat-completions_to_${vendor}.json`) as LinguaCase[]).map(one => ({
    name: `lingua ${one.case}`,
    input: one.input,
    request: one.golden_provider_request,
  }))

export const agentgatewayGoldens = (vendor: string): Golden[] => {
  const { cases } = readJson('agentgateway/golden/requests_completions.json') as {
    cases: AgentgatewayCase[]
  }
  return cases.flatMap(({ case: name, input, golden }) => {
    const request = golden[vendor]?.request
    return request === undefined ? [] : [{ name: `agentgateway ${name}`, input, request }]
  })
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keys in order, so that two objects that say the same are written the same. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, sorted(value[key])]),
  )
}

/** Where two requests differ, as `path: theirs → ours`. */
export const differences = (theirs: unknown, ours: unknown, path = ''): string[] => {
  const [a, b] = [sorted(theirs), sorted(ours)]
  if (same(a, b)) return []
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a.flatMap((one, i) => differences(one, b[i], `${path}[${i}]`))
  if (isObject(a) && isObject(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap(key =>
      differences(a[key], b[key], path === '' ? key : `${path}.${key}`),
    )
  return [`${path}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`]
}
