/** Puts the bytes of images and files in place of their URLs, for dialects that take nothing else. */
import type { Dialect } from '../dialects/dialect.ts'
import { type Fetched, FetchRefused, type GuardedFetcher } from '../egress/guarded-fetcher.ts'
import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'

/** All that one request may bring in, and how much of it at once. */
const maxUrls = 32
const maxTotalBytes = 48 * 1024 * 1024
const maxAtOnce = 4

type Part = { type: string; [field: string]: unknown }

/** Where a URL stands in a request. */
export type Place = {
  readonly message: number
  readonly part: number
  readonly kind: 'image' | 'video' | 'file'
  readonly url: string
}

const paramOf = ({ message, part }: Place): string => `messages[${message}].content[${part}]`

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : { url: value }

/** Of the parts that can hold a URL; `null` for all others. */
const locate = (part: Part): { kind: Place['kind']; url: unknown } | null => {
  switch (part.type) {
    case 'image_url':
      return { kind: 'image', url: fieldsOf(part.image_url).url }
    case 'video_url':
      return { kind: 'video', url: fieldsOf(part.video_url).url }
    case 'file': {
      const { file_data, file_url } = fieldsOf(part.file)
      return { kind: 'file', url: file_data || file_url }
    }
    default:
      return null
  }
}

/** The URLs that must become bytes. Usually none. */
export const findMedia = (
  { messages }: ChatRequest,
  wanted: NonNullable<Dialect['inlinesMedia']>,
): Place[] => {
  const places: Place[] = []
  for (const [message, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [part, value] of content.entries()) {
      const found = locate(value)
      if (found === null || typeof found.url !== 'string' || !/^https?:/i.test(found.url)) continue
      if (wanted === true || wanted(found.url))
        places.push({ message, part, kind: found.kind, url: found.url })
    }
  }
  return places
}

const refused = (place: Place, reason: string): GatewayError => {
  const param = paramOf(place)
  return new GatewayError('invalid_request', `The URL in ${param} can not be used: ${reason}.`, {
    param,
  })
}

const signatures = [
  ['89504e47', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['25504446', 'application/pdf'],
] as const

const vague = new Set(['', 'application/octet-stream', 'binary/octet-stream'])

/** As the server names it; servers of plain files often don't, and then the first bytes tell. */
const mediaTypeOf = ({ mediaType, bytes }: Fetched): string => {
  if (!vague.has(mediaType)) return mediaType
  const start = bytes.toString('hex', 0, 12)
  if (start.startsWith('52494646') && start.endsWith('57454250')) return 'image/webp'
  return signatures.find(([head]) => start.startsWith(head))?.[1] ?? 'application/octet-stream'
}

const toDataUri = (place: Place, fetched: Fetched): string => {
  const mediaType = mediaTypeOf(fetched)
  if (place.kind !== 'file' && !mediaType.startsWith(`${place.kind}/`))
    throw refused(
      place,
      `its server does not call it ${place.kind === 'image' ? 'an image' : 'a video'}`,
    )
  // It goes into a URI, so it must be no more than a media type.
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) throw refused(place, 'its media type is not one')
  return `data:${mediaType};base64,${fetched.bytes.toString('base64')}`
}

/** A few at a time, the same URL once. Raises `invalid_request`, which names the part. */
const fetchAll = async (
  places: readonly Place[],
  fetcher: Pick<GuardedFetcher, 'fetch'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> => {
  const waiting = [...new Map(places.map(place => [place.url, place])).values()]
  const found = new Map<string, string>()
  let total = 0
  const work = async () => {
    for (let place = waiting.shift(); place; place = waiting.shift()) {
      try {
        const fetched = await fetcher.fetch(place.url, signal)
        total += fetched.bytes.length
        if (total > maxTotalBytes)
          throw refused(place, `together they are larger than ${maxTotalBytes} bytes`)
        found.set(place.url, toDataUri(place, fetched))
      } catch (error) {
        waiting.length = 0
        throw error instanceof FetchRefused ? refused(place, error.message) : error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, waiting.length) }, work))
  return found
}

const withUrl = (part: Part, kind: Place['kind'], uri: string): Part => {
  if (kind === 'image') return { ...part, image_url: { ...fieldsOf(part.image_url), url: uri } }
  if (kind === 'video') return { ...part, video_url: { ...fieldsOf(part.video_url), url: uri } }
  const { file_url, ...file } = fieldsOf(part.file)
  const filename = file.filename ?? nameOf(file.file_data || file_url)
  return { ...part, file: { ...file, file_data: uri, ...(filename ? { filename } : {}) } }
}

/** The last step of the URL's path: what a browser would save it as. */
const nameOf = (url: unknown): string =>
  /[^/?#]+(?=[?#]|$)/.exec(String(url).replace(/[?#].*$/, ''))?.[0] ?? ''

/**
 * The request with what `places` name inside it. Raises `invalid_request` with the part in `param`; nothing is fetched
 * any more once `signal` is aborted.
 */
export const inlineMedia = async (
  chat: ChatRequest,
  places: readonly Place[],
  fetcher: Pick<GuardedFetcher, 'fetch'>,
  signal: AbortSignal,
): Promise<ChatRequest> => {
  const tooMany = places[maxUrls]
  if (tooMany) throw refused(tooMany, `at most ${maxUrls} are fetched for one request`)
  const found = await fetchAll(places, fetcher, signal)
  const messages = chat.messages.slice()
  for (const { message, part, kind, url } of places) {
    const old = messages[message]
    const uri = found.get(url)
    if (!old || !Array.isArray(old.content) || uri === undefined) continue
    const content = old.content.map((value, i) => (i === part ? withUrl(value, kind, uri) : value))
    messages[message] = { ...old, content }
  }
  return { ...chat, messages }
}
