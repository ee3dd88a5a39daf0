/** Who may read the metrics. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readJson, startTestGateway, type TestGateway } from '../harness.ts'

const token = 'operator-token-0123456789'
const get = (at: TestGateway, headers: Record<string, string> = {}, path = '/metrics') =>
  fetch(`${at.url}${path}`, { headers })

describe('on this machine', () => {
  let at: TestGateway
  beforeAll(async () => {
    at = await startTestGateway({ env: { METRICS_TOKEN: token } })
  })
  afterAll(() => at.close())

  test('answers without a token, in the text that Prometheus reads', async () => {
    await get(at, {}, '/health')
    const response = await get(at)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/plain')
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    const text = await response.text()
    expect(text).toMatch(/^tollgate_requests_total\{route="\/health",status="200"\} 1$/m)
    expect(text).toMatch(/^tollgate_ledger_available 1$/m)
    expect(text).not.toContain(at.key)
  })

  test.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'x-forwarded-host'])(
    'asks for the token where %s tells of a proxy',
    async header => {
      const response = await get(at, { [header]: '127.0.0.1' })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="tollgate"')
      expect((await readJson(response)).error.code).toBe('missing_api_key')
      const asked = { [header]: '127.0.0.1', authorization: `Bearer ${token}` }
      expect((await get(at, asked)).status).toBe(200)
    },
  )
})

describe('behind a proxy', () => {
  let at: TestGateway
  beforeAll(async () => {
    at = await startTestGateway({ env: { METRICS_TOKEN: token, TRUST_PROXY: 'true' } })
  })
  afterAll(() => at.close())

  test('only the token counts, wherever the request comes from', async () => {
    expect((await get(at)).status).toBe(401)
    expect((await get(at, { 'x-forwarded-for': '127.0.0.1' })).status).toBe(401)
    expect((await get(at, { authorization: `Bearer ${token}` })).status).toBe(200)
    expect((await get(at, { authorization: `bearer ${token}` }, '/v1/metrics')).status).toBe(200)
  })

  test.each([
    `Bearer ${token}x`,
    `Bearer ${token.slice(0, -1)}`,
    `Basic ${token}`,
    'Bearer',
    token,
  ])('refuses %s', async authorization => {
    const response = await get(at, { authorization })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect((await readJson(response)).error.code).toBe('invalid_api_key')
  })

  test("an account's key is no operator's token", async () => {
    expect((await get(at, { authorization: `Bearer ${at.key}` })).status).toBe(401)
  })
})

test('without METRICS_TOKEN no token opens it from outside', async () => {
  const at = await startTestGateway({ env: { TRUST_PROXY: '1' } })
  for (const authorization of ['Bearer ', 'Bearer null', 'Bearer undefined'])
    expect((await get(at, { authorization })).status).toBe(401)
  await at.close()
})
