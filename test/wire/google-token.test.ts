import { createVerify, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { googleTokenRequest, readGoogleToken } from '../../src/wire/google-token.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

const keyFile = {
  type: 'service_account',
  project_id: 'p',
  private_key_id: 'k1',
  private_key: privateKey,
  client_email: 'gateway@p.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
}
const nowMs = Date.parse('2026-11-21T10:00:00.900Z')
const decoded = (part = ''): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())

describe('a service account', () => {
  const json = JSON.stringify(keyFile)
  test.each([
    ['as JSON', json],
    ['as JSON on many lines', JSON.stringify(keyFile, null, 2)],
    ['in base64', Buffer.from(json).toString('base64')],
    ['in base64 for URLs', Buffer.from(json).toString('base64url')],
  ])('%s, signs who it is, for an hour', (_, credential) => {
    const request = googleTokenRequest(credential, nowMs)
    expect(request?.url).toBe(keyFile.token_uri)
    expect(request?.headers).toEqual({ 'content-type': 'application/x-www-form-urlencoded' })
    const form = new URLSearchParams(request?.body)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [header, claims, signature = ''] = (form.get('assertion') ?? '').split('.')
    expect(decoded(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
    expect(decoded(claims)).toEqual({
      iss: keyFile.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: keyFile.token_uri,
      iat: Math.floor(nowMs / 1_000),
      exp: Math.floor(nowMs / 1_000) + 3_600,
    })
    const verify = createVerify('RSA-SHA256').update(`${header}.${claims}`)
    expect(verify.verify(publicKey, signature, 'base64url')).toBe(true)
  })

  test.each([
    ['{"type": broken'],
    [JSON.stringify({ type: 'service_account' })],
    [JSON.stringify({ ...keyFile, private_key: 'not a key' })],
  ])('that can not be used throws: %#', credential => {
    expect(() => googleTokenRequest(credential, nowMs)).toThrow()
  })
})

test('a user of gcloud refreshes', () => {
  const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' }
  const request = googleTokenRequest(JSON.stringify(user), nowMs)
  expect(request?.url).toBe('https://oauth2.googleapis.com/token')
  const { type: _, ...fields } = user
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
    grant_type: 'refresh_token',
    ...fields,
  })
})

test.each([
  ['AIzaSyCanary'],
  ['ya29.a0AfB_byCanary'],
  ['AQ.Ab8canary'],
  ['eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln'],
  ['bm90IGpzb24='],
])('%s is sent as it is', credential => {
  expect(googleTokenRequest(credential, nowMs)).toBeNull()
})

test('a token is read with its life, and nothing else is taken for one', () => {
  expect(readGoogleToken('{"access_token":"ya29.abcdef","expires_in":3599}')).toEqual({
    token: 'ya29.abcdef',
    expiresInS: 3599,
  })
  expect(readGoogleToken('{"access_token":"ya29.abcdef"}').expiresInS).toBe(3600)
  for (const body of ['', '{}', '{"access_token":""}', '{"access_token":"a\\r\\nx: y"}', '[]'])
    expect(() => readGoogleToken(body)).toThrow()
})
