/** The API as it is told to programs and to people. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenApiDocument } from '../../src/edge/openapi.ts'
import { errorCatalogue } from '../../src/errors.ts'
import { readJson, startTestGateway, type TestGateway } from '../harness.ts'
import { type Judge, judgeBy, readDocument } from './documented.ts'

let at: TestGateway
let document: OpenApiDocument
let judge: Judge

beforeAll(async () => {
  at = await startTestGateway()
  document = await readDocument(at.url)
  judge = judgeBy(document)
})
afterAll(() => at.close())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

describe('/openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
  })

  test('says where the client reached the gateway', () => {
    expect(document.servers[0]?.url).toBe(`${at.url}/v1`)
    expect(JSON.stringify(document)).not.toContain('{base_url}')
  })

  test('every reference leads somewhere', () => {
    const references = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? []
    expect(references.length).toBeGreaterThan(10)
    for (const reference of references)
      expect(document.components.schemas).toHaveProperty([reference.split('/').at(-1) ?? ''])
  })

  test('every route that it describes is there, with and without /v1', async () => {
    for (const { path, method } of operations())
      for (const prefix of ['', '/v1']) {
        const url = `${at.url}${prefix}${path.replace('{model}', 'demo/tollgate')}`
        const { status } = await fetch(url, { method: method.toUpperCase() })
        expect({ url, status }).not.toMatchObject({ status: expect.toBeOneOf([404, 405, 500]) })
      }
  })

  test('what needs a key says so, and is refused without', async () => {
    for (const { path, method, operation } of operations()) {
      if (!operation.security.some(each => 'apiKey' in each)) continue
      const { status } = await fetch(`${at.url}${path}`, { method: method.toUpperCase() })
      expect({ path, status }).toEqual({ path, status: 401 })
      expect(operation.responses).toHaveProperty('401')
    }
  })

  test('its examples have the shapes that it describes', () => {
    for (const { path, operation } of operations()) {
      const contents = [operation.requestBody?.content, operation.responses['200']?.content]
      for (const [type, { schema, example }] of contents.flatMap(each =>
        Object.entries(each ?? {}),
      )) {
        if (!schema.$ref) continue
        const name = schema.$ref.split('/').at(-1) ?? ''
        const values =
          type === 'text/event-stream'
            ? [...String(example).matchAll(/^data: (\{.*)$/gm)].map(([, json]) =>
                JSON.parse(json ?? ''),
              )
            : [example]
        expect(values.length).toBeGreaterThan(0)
        for (const value of values)
          expect({ path, wrong: judge(name, value) }).toEqual({ path, wrong: [] })
      }
    }
  })

  test('every code of the catalogue is described, under its status', () => {
    const described = document['x-errors'].map(({ code, status }) => [code, status])
    expect(described).toEqual(
      Object.entries(errorCatalogue).map(([code, { status }]) => [code, status]),
    )
    const chat = document.paths['/chat/completions']?.['post']?.responses ?? {}
    const examples = Object.entries(chat).flatMap(([status, { content }]) =>
      Object.entries(content['application/json']?.examples ?? {}).map(([code, example]) => {
        expect(judge('Error', (example as { value: unknown }).value)).toEqual([])
        return [code, Number(status)]
      }),
    )
    expect(examples.length).toBeGreaterThan(30)
    for (const [code, status] of examples)
      expect({ code, status }).toEqual({
        code,
        status: errorCatalogue[code as keyof typeof errorCatalogue].status,
      })
  })

  test('what the gateway refuses has the documented shape', async () => {
    const chat = (body: string) =>
      fetch(`${at.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
        body,
      })
    for (const body of ['{', '{}', '{"model":"nope/x","messages":[{"role":"user","content":"x"}]}'])
      expect(judge('Error', await readJson(await chat(body)))).toEqual([])
  })
})

describe('/docs', () => {
  const page = async (headers: Record<string, string> = {}) => fetch(`${at.url}/docs`, { headers })

  test('tells every operation, every error and the abort policy', async () => {
    const response = await page()
    const text = await response.text()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const wanted = [
      ...operations().flatMap(({ path, operation }) => [path, `id="${operation.operationId}"`]),
      ...Object.keys(errorCatalogue).map(code => `id="error-${code}"`),
      'id="the-abort-policy"',
      `${at.url}/v1/chat/completions`,
    ]
    expect(wanted.filter(part => !text.includes(part))).toEqual([])
    expect(text.includes('{base_url}')).toBe(false)
  })

  test('every link inside the page has a target, and no id stands twice', async () => {
    const text = await (await page()).text()
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids).toEqual([...new Set(ids)])
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
  })

  test('runs no script and takes nothing from elsewhere', async () => {
    const response = await page()
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'/,
    )
    const text = await response.text()
    expect(text).not.toMatch(/<script|<style| style=| on\w+=|javascript:/)
    const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? []
    const sheet = await fetch(new URL(style, at.url))
    expect(sheet.status).toBe(200)
    expect(sheet.headers.get('content-type')).toMatch(/^text\/css/)
    expect(await sheet.text()).not.toMatch(/url\(|@import/)
    const [, icon = ''] = /<link rel="icon"[^>]+href="([^"]+)"/.exec(text) ?? []
    expect((await fetch(new URL(icon, at.url))).headers.get('content-type')).toContain(
      'image/svg+xml',
    )
  })

  test('who has the page is told that it has not changed', async () => {
    const etag = (await page()).headers.get('etag') ?? ''
    expect((await page({ 'if-none-match': etag })).status).toBe(304)
  })
})

test('PUBLIC_URL is what everybody is told', async () => {
  const outside = await startTestGateway({ env: { PUBLIC_URL: "https://ai.example.com/a&b'/" } })
  const { servers } = await readDocument(outside.url)
  expect(servers[0]?.url).toBe("https://ai.example.com/a&b'/v1")
  const text = await (await fetch(`${outside.url}/docs`)).text()
  expect(text).toContain('https://ai.example.com/a&amp;b&#39;/v1')
  expect(text).not.toContain(outside.url)
  await outside.close()
})

describe('/', () => {
  test.each(['/', '/v1'])('leads a browser from %s to the documentation', async path => {
    const accept = 'text/html,application/xhtml+xml'
    const response = await fetch(`${at.url}${path}`, { headers: { accept }, redirect: 'manual' })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('/docs')
  })

  test('tells a program where it is', async () => {
    const body = await readJson(await fetch(at.url))
    expect(body).toMatchObject({
      name: 'Tollgate',
      base_url: `${at.url}/v1`,
      docs: `${at.url}/docs`,
    })
    expect(body.version).toMatch(/^\d+\.\d+\.\d+/)
  })
})
