/** Parts of a hub message as content blocks of Converse. Media come as bytes: what a URL names is fetched beforehand. */
import type { ChatRequest } from '../wire/chat.ts'
import { type DataUri, parseDataUri } from '../wire/data-uri.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

export type Block = Readonly<Record<string, unknown>>
type Content = ChatRequest['messages'][number]['content']

/** What blocks of one request have in common. */
export type Rendering = {
  /** Names of its documents, which must differ. */
  readonly documentNames: Set<string>
  readonly marksCache: boolean
}

/** The API refuses blocks of blank text. */
export const isBlank = (text: string): boolean => text.trim() === ''

const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const videoFormats: ReadonlyMap<string, string> = new Map([
  ['video/mp4', 'mp4'],
  ['video/quicktime', 'mov'],
  ['video/x-matroska', 'mkv'],
  ['video/webm', 'webm'],
  ['video/x-flv', 'flv'],
  ['video/mpeg', 'mpeg'],
  ['video/x-ms-wmv', 'wmv'],
  ['video/3gpp', 'three_gp'],
])

const audioFormats = new Set(
  'mp3 opus wav aac flac mp4 ogg mkv mka x-aac m4a mpeg mpga pcm webm'.split(' '),
)

const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
])
const documentEndings = new Set(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'])
const plainText = /^text\/|^application\/(json|xml|yaml|x-yaml)$/

/** Base64, however the URI writes its data. `null` for a broken percent escape. */
const base64Of = ({ isBase64, data }: DataUri): string | null => {
  if (isBase64) return data
  try {
    return Buffer.from(decodeURIComponent(data)).toString('base64')
  } catch {
    return null
  }
}

const mediaBlock = (
  kind: 'image' | 'video',
  url: string,
  formats: ReadonlyMap<string, string>,
  param: string,
): Block => {
  const uri = parseDataUri(url)
  const format = formats.get(uri?.mediaType ?? '')
  if (uri === null || format === undefined || !uri.isBase64)
    throw unsupported(
      param,
      `The provider takes this kind of content as a base64 data URI of type ${[...formats.values()].join(', ')}.`,
    )
  return { [kind]: { format, source: { bytes: uri.data } } }
}

const audioBlock = (part: Fields, param: string): Block => {
  const { data, format } = fieldsOf(part.input_audio)
  const bytes = parseDataUri(textOf(data))?.data ?? textOf(data)
  if (bytes === '' || !audioFormats.has(textOf(format)))
    throw unsupported(param, `The provider takes audio as ${[...audioFormats].join(', ')}.`)
  return { audio: { format, source: { bytes } } }
}

const maxNameLength = 200

/** Letters, digits, single spaces, hyphens and brackets only: a name may not hold instructions, says the documentation. */
const documentName = (filename: string, taken: Set<string>): string => {
  const plain =
    filename
      .replace(/\.[^.]*$/, '')
      .replace(/[^a-zA-Z0-9 ()[\]-]+/g, ' ')
      .replace(/ +/g, ' ')
      .trim()
      .slice(0, maxNameLength - 8)
      .trim() || 'document'
  let name = plain
  for (let i = 2; taken.has(name); i++) name = `${plain} ${i}`
  taken.add(name)
  return name
}

const documentFormat = (mediaType: string, filename: string): string | undefined => {
  const ending = /\.([a-z]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? ''
  const byName = documentEndings.has(ending) ? ending : undefined
  const byType = documentFormats.get(mediaType)
  if (byType !== undefined) return byType
  if (byName !== undefined) return byName
  return plainText.test(mediaType) ? 'txt' : undefined
}

const fileBlock = (part: Fields, param: string, { documentNames }: Rendering): Block => {
  const file = fieldsOf(part.file)
  const data = textOf(file.file_data)
  const filename = textOf(file.filename)
  if (data === '')
    throw unsupported(
      param,
      'Send the file itself as `file_data`; the provider does not know ids of files.',
    )
  const uri = parseDataUri(data) ?? { mediaType: '', isBase64: true, data }
  if (uri.mediaType.startsWith('image/')) return mediaBlock('image', data, imageFormats, param)
  if (uri.mediaType.startsWith('video/')) return mediaBlock('video', data, videoFormats, param)
  const guessed = uri.mediaType === '' && filename === '' ? 'application/pdf' : uri.mediaType
  const format = documentFormat(guessed, filename)
  const bytes = base64Of(uri)
  if (format === undefined || bytes === null || /^https?:/i.test(data))
    throw unsupported(
      param,
      `The provider takes files as data URIs of ${[...documentEndings].join(', ')}, images and videos.`,
    )
  const document: Record<string, unknown> = {
    format,
    name: documentName(filename, documentNames),
    source: { bytes },
  }
  if (fieldsOf(part.citations).enabled === true) document.citations = { enabled: true }
  return { document }
}

/** `null` for a text that says nothing. */
const renderPart = (part: Fields, param: string, rendering: Rendering): Block | null => {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const text = textOf(part.text) || textOf(part.refusal)
      return isBlank(text) ? null : { text }
    }
    case 'image_url':
    case 'video_url': {
      const media = part[part.type]
      const url = textOf(media) || textOf(fieldsOf(media).url)
      return part.type === 'image_url'
        ? mediaBlock('image', url, imageFormats, param)
        : mediaBlock('video', url, videoFormats, param)
    }
    case 'input_audio':
      return audioBlock(part, param)
    case 'file':
      return fileBlock(part, param, rendering)
    default:
      throw unsupported(param, `The provider does not take content of type ${textOf(part.type)}.`)
  }
}

/**
 * Where the client marked the end of what is worth keeping, the mark becomes a block of its own behind it. It keeps for
 * the usual five minutes: an hour has another price, which no list tells.
 */
export const markCache = (source: Fields, into: Block[], { marksCache }: Rendering): void => {
  const last = into.at(-1)
  if (!marksCache || !source.cache_control || last?.cachePoint) return
  // Right behind these a mark is refused.
  if (last?.document || last?.video) into.push({ text: '\n' })
  into.push({ cachePoint: { type: 'default' } })
}

/** Adds the blocks of a message's content. `textOnly`: where the API takes nothing else. */
export const renderContent = (
  content: Content,
  message: number,
  into: Block[],
  rendering: Rendering,
  textOnly: boolean,
): void => {
  if (typeof content === 'string') {
    if (!isBlank(content)) into.push({ text: content })
    return
  }
  for (const [i, part] of (content ?? []).entries()) {
    const param = `messages[${message}].content[${i}]`
    const block = renderPart(part, param, rendering)
    if (block === null) {
      if (into.length > 0) markCache(part, into, rendering)
      continue
    }
    if (textOnly && block.text === undefined)
      throw unsupported(param, 'The provider takes only text in messages of this role.')
    into.push(block)
    markCache(part, into, rendering)
  }
}
