/** `data:` URIs, the way clients put images and files into a request. https://www.rfc-editor.org/rfc/rfc2397 */

export type DataUri = {
  /** Lower case, without parameters; empty where the URI names none. */
  readonly mediaType: string
  readonly isBase64: boolean
  /** As it stands in the URI. */
  readonly data: string
}

const longestHead = 256

/** `null` for any other text. */
export const parseDataUri = (uri: string): DataUri | null => {
  if (uri.slice(0, 5).toLowerCase() !== 'data:') return null
  const comma = uri.slice(0, longestHead).indexOf(',')
  if (comma === -1) return null
  const [mediaType = '', ...parameters] = uri.slice(5, comma).toLowerCase().split(';')
  return {
    mediaType: mediaType.trim(),
    isBase64: parameters.some(parameter => parameter.trim() === 'base64'),
    data: uri.slice(comma + 1),
  }
}

/** The bytes as text. Raises `URIError` for a broken percent escape. */
export const decodeText = ({ isBase64, data }: DataUri): string =>
  isBase64 ? Buffer.from(data, 'base64').toString() : decodeURIComponent(data)
