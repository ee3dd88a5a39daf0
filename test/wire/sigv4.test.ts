import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeStrictly, signAws } from '../../src/wire/sigv4.ts'
import { keyPair, type Signed, signedByAmazon } from './amazon-signer.ts'

const nowMs = Date.UTC(2026, 10, 21, 9, 5, 7, 321)

const expectTheSame = async (request: Signed): Promise<void> => {
  const ours = signAws(
    { method: 'POST', ...request },
    { ...keyPair, sessionToken: request.token },
    'eu-central-1',
    'bedrock',
    nowMs,
  )
  expect(await signedByAmazon(request, 'eu-central-1', nowMs)).toMatchObject(ours)
  expect(Object.keys(ours).sort()).toEqual(
    request.token === null
      ? ['authorization', 'x-amz-date']
      : ['authorization', 'x-amz-date', 'x-amz-security-token'],
  )
}

const json = { 'content-type': 'application/json' }
const base = 'https://bedrock-runtime.eu-central-1.amazonaws.com'

describe("a signature is the same as Amazon's own", () => {
  test.each([
    ['a model id with a colon', '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse'],
    [
      'an ARN',
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fab12/converse-stream',
    ],
    ['a path in front', '/proxy/model/m/converse'],
    ['a query', '/model/m/converse?b=2&a=1%20x&c='],
    ['nothing', '/'],
  ])('for %s', async (_, path) => {
    await expectTheSame({ url: base + path, body: '{"a":"é"}', headers: json, token: null })
  })

  test('with a session token, a port and headers of its own', async () => {
    await expectTheSame({
      url: 'http://127.0.0.1:8123/model/a%3A0/converse',
      body: '',
      headers: { ...json, 'x-amz-target': ' a   b ' },
      token: 'FwoGZXIvYXdzEBY+/aDN=',
    })
  })

  test('whatever the model is called and the body says', async () => {
    const property = fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter(name => !/^\.{1,2}$/.test(name)),
      fc.string({ unit: 'grapheme' }),
      async (model, body) =>
        expectTheSame({
          url: `${base}/model/${encodeStrictly(model)}/converse`,
          body,
          headers: json,
          token: null,
        }),
    )
    await fc.assert(property, { numRuns: 200 })
  })
})

test('a signature covers the body, the path, the time and the type', () => {
  const sign = (change: object, atMs = nowMs) =>
    signAws(
      { method: 'POST', url: `${base}/a`, headers: json, body: 'b', ...change },
      { ...keyPair, sessionToken: null },
      'us-east-1',
      'bedrock',
      atMs,
    ).authorization
  const all = [
    sign({}),
    sign({ body: 'c' }),
    sign({ url: `${base}/b` }),
    sign({ headers: { 'content-type': 'text/plain' } }),
    sign({}, nowMs + 1000),
  ]
  expect(new Set(all).size).toBe(all.length)
})
