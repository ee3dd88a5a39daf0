import { describe, expect, test } from 'vitest'
import { bedrock } from '../../src/providers/bedrock.ts'

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
