/** Amazon's own signer, as the oracle of ours. */
import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'

type Chunk = string | ArrayBuffer | ArrayBufferView

const bytesOf = (chunk: Chunk): Uint8Array =>
  typeof chunk === 'string'
    ? Buffer.from(chunk)
    : ArrayBuffer.isView(chunk)
      ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      : new Uint8Array(chunk)

class Sha256 {
  readonly #hash
  constructor(secret?: Chunk) {
    this.#hash = secret ? createHmac('sha256', bytesOf(secret)) : createHash('sha256')
  }
  update(chunk: Chunk): void {
    this.#hash.update(bytesOf(chunk))
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {}
}

export const keyPair = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}

export type Signed = {
  url: string
  body: string
  headers: Record<string, string>
  token: string | null
}

/** Headers of the POST as Amazon's own code signs it at that time. */
export const signedByAmazon = async (
  { url, body, headers, token }: Signed,
  region: string,
  atMs: number,
): Promise<Record<string, string>> => {
  const { hostname, host, protocol, pathname, searchParams } = new URL(url)
  const signer = new SignatureV4({
    credentials: { ...keyPair, ...(token === null ? {} : { sessionToken: token }) },
    region,
    service: 'bedrock',
    sha256: Sha256,
    applyChecksum: false,
  })
  const request = {
    method: 'POST',
    hostname,
    protocol,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { ...headers, host },
    body,
  }
  return (await signer.sign(request, { signingDate: new Date(atMs) })).headers
}
