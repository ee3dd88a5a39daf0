/** Parts of a hub message as Anthropic's content blocks. */
import type { ChatRequest } from '../wire/chat.ts'
import { type DataUri, decodeText, parseDataUri } from '../wire/data-uri.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

export type Block = { type: string; [field: string]: unknown }
type Content = ChatRequest['messages'][number]['content']

/** https://platform.claude.com/docs/en/build-with-claude/vision (2026-11) */
const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
const documentEnding = /\.(txt|md|markdown|csv|json|xml|html?|ya?ml|log)$/i
/** By address only PDF is read; what plays is no document at all. */
const mediaEnding = /\.(mp3|wav|ogg|flac|m4a|aac|opus|mp4|mov|webm|mkv|avi|mpe?g)(?:[?#]|$)/i
const maxTitleLength = 500

/** Whether the API would take this text as a block of its own: it refuses blank ones. */
export const isBlank = (text: string): boolean => text.trim() === ''

/** Copies a mark of the prompt cache from where the client put it. */
export const withCacheControl = (block: Block, source: Fields): Block => {
  if (source.cache_control) block.cache_control = source.cache_control
  return block
}

const textBlock = (text: string, source: Fields): Block =>
  withCacheControl({ type: 'text', text }, source)

const imageBlock = (url: string, param: string): Block => {
  if (/^https?:/i.test(url)) return { type: 'image', source: { type: 'url', url } }
  const uri = parseDataUri(url)
  if (uri?.isBase64 && imageTypes.has(uri.mediaType))
    return {
      type: 'image',
      source: { type: 'base64', media_type: uri.mediaType, data: uri.data },
    }
  throw unsupported(
    param,
    'The provider takes images as an http(s) URL or as a base64 data URI of type JPEG, PNG, GIF or WebP.',
  )
}

const textDocument = (uri: DataUri, param: string): Fields => {
  try {
    return { type: 'text', media_type: 'text/plain', data: decodeText(uri) }
  } catch {
    throw unsupported(param, 'The data of this file is not encoded as its data URI says.')
  }
}

const documentSource = (data: string, filename: string, param: string): Fields | null => {
  if (/^https?:/i.test(data))
    return mediaEnding.test(data) || mediaEnding.test(filename) ? null : { type: 'url', url: data }
  const uri = parseDataUri(data) ?? {
    mediaType: documentEnding.test(filename)
      ? 'text/plain'
      : /\.pdf$|^$/i.test(filename)
        ? 'application/pdf'
        : '',
    isBase64: true,
    data,
  }
  if (uri.mediaType === 'application/pdf' && uri.isBase64)
    return { type: 'base64', media_type: 'application/pdf', data: uri.data }
  if (/^text\/|^application\/(json|xml|yaml)$/.test(uri.mediaType)) return textDocument(uri, param)
  return null
}

const fileBlock = (part: Fields, param: string): Block => {
  const file = fieldsOf(part.file)
  const data = textOf(file.file_data) || textOf(file.file_url)
  const filename = textOf(file.filename)
  if (data === '')
    throw unsupported(
      param,
      'Send the file itself as `file_data`; the provider does not know ids of files.',
    )
  if (/^data:image\//i.test(data)) return imageBlock(data, param)
  const source = documentSource(data, filename, param)
  if (source === null)
    throw unsupported(param, 'The provider takes files as PDF, plain text or images only.')
  const block: Block = { type: 'document', source }
  if (filename !== '') block.title = filename.slice(0, maxTitleLength)
  if (part.citations) block.citations = part.citations
  return block
}

/** `null` for a text that says nothing. */
const renderPart = (part: Fields, param: string): Block | null => {
  switch (part.type) {
    case 'text': {
      const text = textOf(part.text)
      return isBlank(text) ? null : textBlock(text, part)
    }
    case 'refusal': {
      const text = textOf(part.refusal)
      return isBlank(text) ? null : textBlock(text, part)
    }
    case 'image_url': {
      const url = textOf(part.image_url) || textOf(fieldsOf(part.image_url).url)
      return withCacheControl(imageBlock(url, param), part)
    }
    case 'file':
      return withCacheControl(fileBlock(part, param), part)
    default:
      throw unsupported(param, `The provider does not take content of type ${textOf(part.type)}.`)
  }
}

/** Adds the blocks of a message's content. `textOnly`: where the API takes nothing else. */
export const renderContent = (
  content: Content,
  message: number,
  into: Block[],
  textOnly: boolean,
): void => {
  if (typeof content === 'string') {
    if (!isBlank(content)) into.push({ type: 'text', text: content })
    return
  }
  for (const [i, part] of (content ?? []).entries()) {
    const block = renderPart(part, `messages[${message}].content[${i}]`)
    if (block === null) continue
    if (textOnly && block.type !== 'text')
      throw unsupported(
        `messages[${message}].content[${i}]`,
        'The provider takes only text in messages of this role.',
      )
    into.push(block)
  }
}
