/**
 * Amazon's signature, version 4, for requests with a whole body.
 * Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html (2026-11).
 */
import { createHash, createHmac } from 'node:crypto'

export type AwsCredential = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of a temporary credential. */
  readonly sessionToken: string | null
}

export type SignableRequest = {
  readonly method: string
  /** With its path as it goes over the wire: encoded once. */
  readonly url: string
  /** Lower case. Signed are `content-type` and what starts with `x-amz-`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const algorithm = 'AWS4-HMAC-SHA256'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

/** As RFC 3986 has it: `encodeURIComponent` leaves five characters alone that Amazon encodes. */
export const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** What stands encoded in the path is encoded once more; only S3 is different. */
const canonicalPath = (path: string): string => path.split('/').map(encodeStrictly).join('/')

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join('&')

const signedHeaders = (request: SignableRequest, host: string, added: Record<string, string>) => {
  const signed: [string, string][] = [['host', host]]
  for (const [name, value] of Object.entries({ ...request.headers, ...added }))
    if (name === 'content-type' || name.startsWith('x-amz-'))
      signed.push([name, value.trim().replace(/ +/g, ' ')])
  return signed.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The headers to add to the request: its date, its signature, and the session token where there is one. */
export const signAws = (
  request: SignableRequest,
  credential: AwsCredential,
  region: string,
  service: string,
  nowMs: number,
): Record<string, string> => {
  const { host, pathname, searchParams } = new URL(request.url)
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const added: Record<string, string> = { 'x-amz-date': time }
  if (credential.sessionToken !== null) added['x-amz-security-token'] = credential.sessionToken
  const headers = signedHeaders(request, host, added)
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    canonicalPath(pathname),
    canonicalQuery(searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(request.body),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${credential.secretAccessKey}`,
  )
  const signature = hmac(key, [algorithm, time, scope, sha256(canonical)].join('\n'))
  added.authorization = `${algorithm} Credential=${credential.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature.toString('hex')}`
  return added
}
