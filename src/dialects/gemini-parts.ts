/** Parts of a hub message as Gemini's parts: https://ai.google.dev/api/caching#Part (2026-11). */
import type { ChatRequest } from '../wire/chat.ts'
import { parseDataUri } from '../wire/data-uri.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

export type Part = { [field: string]: unknown }
type Content = ChatRequest['messages'][number]['content']

const mediaTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/plain',
  csv: 'text/csv',
  html: 'text/html',
  xml: 'text/xml',
  json: 'text/plain',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  aac: 'audio/aac',
  aiff: 'audio/aiff',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
  avi: 'video/x-msvideo',
}

const ending = /\.(\w{2,5})(?:[?#]|$)/

const mediaTypeByName = (name: string): string | undefined =>
  mediaTypes[ending.exec(name)?.[1]?.toLowerCase() ?? '']

/** Texts of kinds that the API doesn't know are plain text to it; a name that isn't one is put right. */
const acceptedType = (mediaType: string): string => {
  if (mediaType === 'image/jpg') return 'image/jpeg'
  if (/^text\/(plain|html|css|csv|xml|rtf)$/.test(mediaType)) return mediaType
  return /^text\/|^application\/(json|xml|yaml|x-yaml|javascript)$/.test(mediaType)
    ? 'text/plain'
    : mediaType
}

const isVideoSite = (url: string): boolean =>
  /^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i.test(url)
const isUploaded = (url: string): boolean =>
  /^https:\/\/generativelanguage\.googleapis\.com\/v\w+\/files\//i.test(url)

/** What the provider itself reads better than a copy: its own files, videos of its own site, and films too long to send. */
export const isReadInPlace = (url: string): boolean =>
  isUploaded(url) || isVideoSite(url) || mediaTypeByName(url)?.startsWith('video/') === true

const inlineData = (mimeType: string, data: string): Part => ({ inlineData: { mimeType, data } })

/** Data as the API wants it: base64, under a media type. */
const mediaPart = (text: string, name: string, fallback: string, param: string): Part => {
  if (/^(?:https?|gs):/i.test(text)) {
    const guess = isVideoSite(text) ? 'video/mp4' : (mediaTypeByName(text) ?? mediaTypeByName(name))
    return { fileData: { mimeType: guess ?? fallback, fileUri: text } }
  }
  const uri = parseDataUri(text)
  if (uri === null) {
    if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(text))
      throw unsupported(param, 'The provider takes an http(s) URL, a data URI or base64.')
    return inlineData(mediaTypeByName(name) ?? fallback, text)
  }
  const mimeType = acceptedType(uri.mediaType || mediaTypeByName(name) || fallback)
  if (uri.isBase64) return inlineData(mimeType, uri.data)
  try {
    return inlineData(mimeType, Buffer.from(decodeURIComponent(uri.data)).toString('base64'))
  } catch {
    throw unsupported(param, 'The data of this file is not encoded as its data URI says.')
  }
}

const filePart = (part: Fields, param: string): Part => {
  const { file_data, file_url, file_id, filename } = fieldsOf(part.file)
  const id = textOf(file_id)
  const data = textOf(file_data) || textOf(file_url) || (/^(?:https|gs):/.test(id) ? id : '')
  if (data === '')
    throw unsupported(
      param,
      'Send the file itself as `file_data`; the provider does not know this id.',
    )
  return mediaPart(data, textOf(filename), 'application/pdf', param)
}

const audioPart = (part: Fields, param: string): Part => {
  const { data, format } = fieldsOf(part.input_audio)
  const name = textOf(format) || 'wav'
  return mediaPart(textOf(data), '', mediaTypes[name] ?? `audio/${name}`, param)
}

const urlOf = (value: unknown): string => textOf(value) || textOf(fieldsOf(value).url)

/** `null` for a text that says nothing: the API refuses empty ones. */
const renderPart = (part: Fields, param: string): Part | null => {
  switch (part.type) {
    case 'text':
      return textOf(part.text) === '' ? null : { text: part.text }
    case 'refusal':
      return textOf(part.refusal) === '' ? null : { text: part.refusal }
    case 'image_url':
      return mediaPart(urlOf(part.image_url), '', 'image/jpeg', param)
    case 'video_url':
      return mediaPart(urlOf(part.video_url), '', 'video/mp4', param)
    case 'input_audio':
      return audioPart(part, param)
    case 'file':
      return filePart(part, param)
    default:
      throw unsupported(param, `The provider does not take content of type ${textOf(part.type)}.`)
  }
}

/** A message's content; `textOnly`: where the API takes nothing else. Raises `unsupported_parameter`. */
export const renderContent = (content: Content, message: number, textOnly: boolean): Part[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  const parts: Part[] = []
  for (const [i, part] of (content ?? []).entries()) {
    const param = `messages[${message}].content[${i}]`
    const rendered = renderPart(part, param)
    if (rendered === null) continue
    if (textOnly && rendered.text === undefined)
      throw unsupported(param, 'The provider takes only text in messages of this role.')
    parts.push(rendered)
  }
  return parts
}
