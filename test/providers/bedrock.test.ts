import { describe, expect, test } from 'vitest'
import { buildStock } from '../../src/models/build-catalogue.ts'
import { StockCatalogue } from '../../src/models/catalogue.ts'
import { loadPriceData } from '../../src/models/price-data.ts'
import { bedrock } from '../../src/providers/bedrock.ts'
import { configureProviders } from '../../src/providers/configured-provider.ts'

const requestTo = (url: string) => ({
  method: 'POST' as const,
  url,
  headers: { 'content-type': 'application/json' },
  body: '{}',
})
const home = requestTo('https://bedrock-runtime.us-east-1.amazonaws.com/model/m%3A0/converse')
const nowMs = Date.UTC(2026, 10, 21)

describe('a credential of Bedrock', () => {
  test.each(['ABSKQmVkcm9ja0FQSUtleS1hYmM=', 'bedrock-api-key-YmVkcm9jay5hbWF6b25hd3M='])(
    'that is an API key is sent: %s',
    key => {
      expect(bedrock.authorize(key)).toEqual({ authorization: `Bearer ${key}` })
      expect(bedrock.sign(home, key, nowMs)).toEqual({})
    },
  )

  test('that is a pair of keys signs, and is not sent', () => {
    expect(bedrock.authorize('AKIDEXAMPLE:secret/+x')).toEqual({})
    const headers = bedrock.sign(home, 'AKIDEXAMPLE:secret/+x', nowMs)
    expect(headers.authorization).toContain('Credential=AKIDEXAMPLE/20261121/us-east-1/bedrock/')
    expect(headers.authorization).toContain('SignedHeaders=content-type;host;x-amz-date,')
    expect(headers).not.toHaveProperty('x-amz-security-token')
    expect(JSON.stringify(headers)).not.toContain('secret')
  })

  test('that is temporary is told to be', () => {
    const headers = bedrock.sign(home, 'ASIAEXAMPLE:secret:FwoG/token==', nowMs)
    expect(headers['x-amz-security-token']).toBe('FwoG/token==')
    expect(headers.authorization).toContain('x-amz-security-token')
  })

  test.each([
    ['https://bedrock-runtime.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['https://bedrock-runtime.ap-southeast-2.api.aws', 'ap-southeast-2'],
    ['https://vpce-1-2.bedrock-runtime.eu-west-1.vpce.amazonaws.com', 'eu-west-1'],
    ['https://bedrock-runtime.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
    ['http://127.0.0.1:8080', 'us-east-1'],
    ['https://proxy.example/bedrock', 'us-east-1'],
  ])('signs for the region of %s', (base, region) => {
    const { authorization } = bedrock.sign(requestTo(`${base}/model/m/converse`), 'A:s', nowMs)
    expect(authorization).toContain(`/20261121/${region}/bedrock/aws4_request,`)
  })
})

describe('what Bedrock sells', async () => {
  const timeouts = { connectMs: 1, firstByteMs: 1, wholeFirstByteMs: 1, idleMs: 1, totalMs: 1 }
  const catalogue = new StockCatalogue(
    buildStock({
      providers: configureProviders([bedrock], new Map(), timeouts),
      prices: await loadPriceData(),
      nowMs: Date.UTC(2026, 10, 20),
    }),
  )

  // https://aws.amazon.com/bedrock/pricing/ (2026-11); beyond `global` it is a tenth more from Claude 4.5 on.
  test.each([
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', '3.3', '16.5'],
    ['eu.anthropic.claude-sonnet-4-6', '3.3', '16.5'],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', '3', '15'],
    ['apac.anthropic.claude-sonnet-4-20250514-v1:0', '3', '15'],
    ['global.anthropic.claude-opus-5-5', '4', '20'],
    ['jp.anthropic.claude-haiku-4-5-20251001-v1:0', '1.1', '5.5'],
    ['amazon.nova-lite-v1:0', '0.06', '0.24'],
    ['us.amazon.nova-2-lite-v1:0', '0.33', '2.75'],
    ['us.meta.llama3-3-70b-instruct-v1:0', '0.72', '0.72'],
    ['openai.gpt-oss-120b-1:0', '0.15', '0.6'],
    ['nvidia.nemotron-nano-9b-v2', '0.06', '0.23'],
  ])('%s costs %s and %s', (name, input, output) => {
    const model = catalogue.find(`bedrock/${name}`)
    const rates = model?.price.tiers[0].rates
    expect([rates?.input, rates?.output].map(rate => String(Number(rate) / 1e9))).toEqual([
      input,
      output,
    ])
    expect(model?.upstreamModel).toBe(name)
  })

  test.each([
    'regional.anthropic.claude-opus-4-5-v1:0',
    'global.anthropic.claude-opus-4-5-v1:0',
    'anthropic.claude-haiku-4-5-20251001-v1:0',
    'claude-opus-5',
    'eu.amazon.nova-lite-v1:0',
    'us.anthropic.claude-3-5-sonnet-20241022-v2:0',
    'amazon.titan-text-express-v1',
    'openai.gpt-5.5',
  ])('%s is not sold', name => {
    expect(catalogue.find(`bedrock/${name}`)).toBeUndefined()
  })
})
