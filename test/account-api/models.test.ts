/** The catalogue as anybody reads it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Judge, judgeBy, readDocument } from '../edge/documented.ts'
import { readJson, startTestGateway, type TestGateway, testModel } from '../harness.ts'

let at: TestGateway
let judge: Judge
let folder: string
let file: string

const acme = (price: object) =>
  JSON.stringify({
    providers: [
      {
        id: 'acme',
        base_url: 'http://127.0.0.1:1',
        models: [{ id: 'org/large:free', price, context_window: 8192 }],
      },
    ],
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-models-'))
  file = join(folder, 'providers.json')
  await writeFile(file, acme({ input: '0.10', output: '0.20', fees: { request: '0.001' } }))
  at = await startTestGateway({ env: { MARKUP_BASIS_POINTS: '550', PROVIDERS_FILE: file } })
  judge = judgeBy(await readDocument(at.url))
})
afterAll(async () => {
  await at.close()
  await rm(folder, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${at.url}${path}`, { headers })
const idsOf = async (path: string): Promise<string[]> =>
  (await readJson(await get(path))).data.map(({ id }: { id: string }) => id)

test('lists what is served, with the price that the client pays, the mark-up included', async () => {
  const response = await get('/v1/models')
  const list = await readJson(response)
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('public, max-age=60')
  expect(judge('ModelList', list)).toEqual([])
  const owners = new Set(list.data.map((model: { owned_by: string }) => model.owned_by))
  expect(owners).toEqual(new Set(['openai', 'demo', 'acme']))
  const model = list.data.find(({ id }: { id: string }) => id === testModel.id)
  expect(model).toMatchObject({
    object: 'model',
    available: true,
    // $0.15 and $0.60 a million, plus 5.5 %.
    pricing: { prompt: '0.00000015825', completion: '0.000000633', request: '0' },
    top_provider: { is_moderated: false },
  })
})

test('lists all that is priced where asked to, each in the documented shape', async () => {
  const list = await readJson(await get('/models?all=true'))
  expect(judge('ModelList', list)).toEqual([])
  expect(list.data.length).toBeGreaterThan(200)
  const states = list.data.map(({ available }: { available: boolean }) => available)
  expect(states).toContain(false)
  const tiered = list.data.filter((model: object) => 'pricing_tiers' in model)
  expect(tiered.length).toBeGreaterThan(0)
})

test('tells how much a model takes, and what', async () => {
  const model = await readJson(await get(`/v1/models/${testModel.id}`))
  expect(model).toMatchObject({
    context_length: 128_000,
    architecture: {
      modality: 'text+image->text',
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
    },
    top_provider: { context_length: 128_000, max_completion_tokens: 16_384 },
  })
  expect(model.supported_parameters).toEqual(
    expect.arrayContaining(['max_tokens', 'temperature', 'tool_choice', 'tools']),
  )
  expect(model.supported_parameters).not.toContain('reasoning')
  const own = await readJson(await get('/v1/models/acme/org/large:free'))
  expect(own.architecture).toMatchObject({ modality: null, input_modalities: ['text'] })
  expect(own.supported_parameters).not.toContain('tools')
})

test('tells the fee for each request', async () => {
  const model = await readJson(await get('/v1/models/acme/org/large:free'))
  expect(judge('Model', model)).toEqual([])
  expect(model.pricing).toMatchObject({ prompt: '0.0000001055', request: '0.001055' })
})

test('filters by provider and by words', async () => {
  expect(await idsOf('/models?provider=demo')).toEqual(['demo/tollgate', 'demo/echo'])
  expect(await idsOf('/models?q=ECHO+demo')).toEqual(['demo/echo'])
  expect(await idsOf('/models?provider=demo&q=large')).toEqual([])
  expect(await idsOf('/models?provider=mistral')).toEqual([])
  expect(await idsOf('/models?provider=mistral&all=true')).not.toEqual([])
})

test.each([
  ['limit=3', 'limit'],
  ['all=yes', 'all'],
  ['q=a&q=b', 'q'],
  [`q=${'a'.repeat(101)}`, 'q'],
])('refuses the query %s', async (query, param) => {
  const response = await get(`/models?${query}`)
  expect(response.status).toBe(400)
  expect((await readJson(response)).error).toMatchObject({ code: 'invalid_request', param })
})

test('reads one model, also by an id with slashes in it or percent-encoded', async () => {
  for (const path of ['openai/gpt-4o-mini', 'openai%2Fgpt-4o-mini']) {
    const model = await readJson(await get(`/v1/models/${path}`))
    expect(model.id).toBe(testModel.id)
    expect(judge('Model', model)).toEqual([])
  }
})

test.each([
  ['openai/gpt-4o-minj', 404, 'model_not_found'],
  // Known and priced, but there is no credential for it: for the client it is not there.
  ['mistral/mistral-large-latest', 404, 'model_not_found'],
  ['gpt-4o', 400, 'invalid_model_id'],
])('refuses the model %s', async (id, status, code) => {
  const response = await get(`/models/${id}`)
  expect(response.status).toBe(status)
  const body = await readJson(response)
  expect(body.error.code).toBe(code)
  expect(judge('Error', body)).toEqual([])
})

test('another method is a 405 that names the right one', async () => {
  for (const path of ['/v1/models', '/models/openai/gpt-4o-mini']) {
    const response = await fetch(`${at.url}${path}`, { method: 'POST' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET')
  }
})

test('who has seen the list is told so, until it changes', async () => {
  const first = await get('/models?provider=acme')
  const etag = first.headers.get('etag') ?? ''
  expect((await get('/models', { 'if-none-match': etag })).status).toBe(200)
  const again = await get('/v1/models?provider=acme', { 'if-none-match': etag })
  expect(again.status).toBe(304)
  expect(await again.text()).toBe('')

  await writeFile(file, acme({ input: '0.30', output: '0.20' }))
  at.gateway.reload()
  const changed = await get('/models?provider=acme', { 'if-none-match': etag })
  expect(changed.status).toBe(200)
  expect((await readJson(changed)).data[0].pricing.prompt).toBe('0.0000003165')
})
