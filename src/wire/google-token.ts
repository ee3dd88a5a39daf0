/**
 * Google credentials that are exchanged for an access token, as `gcloud` and the console hand them out.
 * Source: https://developers.google.com/identity/protocols/oauth2/service-account#httprest (2026-11).
 */
import { createSign } from 'node:crypto'
import { fieldsOf, isFields, textOf } from './fields.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const defaultTokenUrl = 'https://oauth2.googleapis.com/token'
const lifeS = 3_600

const base64Url = (value: string): string => Buffer.from(value).toString('base64url')

/** JSON as it is, or in base64, since settings are lists with commas between. `null` for anything else. */
const readKeyFile = (credential: string): Record<string, unknown> | null => {
  const inBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(credential)
  const text = inBase64 ? Buffer.from(credential, 'base64').toString() : credential
  if (!/^\s*\{/.test(text)) return null
  try {
    const parsed: unknown = JSON.parse(text)
    return isFields(parsed) ? parsed : null
  } catch {
    if (inBase64) return null
    throw new TypeError('not JSON')
  }
}

const signedClaims = (
  keyFile: Record<string, unknown>,
  tokenUrl: string,
  nowMs: number,
): string => {
  const issuedS = Math.floor(nowMs / 1_000)
  const kid = textOf(keyFile.private_key_id)
  const header = { alg: 'RS256', typ: 'JWT', ...(kid === '' ? {} : { kid }) }
  const claims = {
    iss: keyFile.client_email,
    scope,
    aud: tokenUrl,
    iat: issuedS,
    exp: issuedS + lifeS,
  }
  const signed = `${base64Url(JSON.stringify(header))}.${base64Url(JSON.stringify(claims))}`
  const signature = createSign('RSA-SHA256').update(signed).sign(textOf(keyFile.private_key))
  return `${signed}.${signature.toString('base64url')}`
}

/** The fields of the form by kind of key file. */
const formOf = (
  keyFile: Record<string, unknown>,
  tokenUrl: string,
  nowMs: number,
): Record<string, string> => {
  if (keyFile.type === 'authorized_user')
    return {
      grant_type: 'refresh_token',
      client_id: textOf(keyFile.client_id),
      client_secret: textOf(keyFile.client_secret),
      refresh_token: textOf(keyFile.refresh_token),
    }
  if (textOf(keyFile.client_email) === '') throw new TypeError('no service account')
  return {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: signedClaims(keyFile, tokenUrl, nowMs),
  }
}

/**
 * The POST that asks for an access token; `null` for what is not a key file (an API key, a token of one's own). Throws
 * where a key file can't be used, in words that may quote it.
 */
export const googleTokenRequest = (
  credential: string,
  nowMs: number,
): { url: string; headers: Record<string, string>; body: string } | null => {
  const keyFile = readKeyFile(credential)
  if (keyFile === null) return null
  const url = textOf(keyFile.token_uri) || defaultTokenUrl
  return {
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(formOf(keyFile, url, nowMs)).toString(),
  }
}

/** Throws where the answer holds no token. */
export const readGoogleToken = (body: string): { token: string; expiresInS: number } => {
  const { access_token, expires_in } = fieldsOf(JSON.parse(body))
  const token = textOf(access_token)
  if (!/^[\x21-\x7e]{8,16384}$/.test(token)) throw new TypeError('no access token')
  return {
    token,
    expiresInS: typeof expires_in === 'number' && expires_in > 0 ? expires_in : lifeS,
  }
}
