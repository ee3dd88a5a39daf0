/** Parts of a hub message as OpenAI's Responses format has them. */
import type { ChatRequest } from '../wire/chat.ts'
import { type Fields, fieldsOf, textOf } from '../wire/fields.ts'
import { unsupported } from './failure.ts'

export type Part = { type: string; [field: string]: unknown }
type Content = ChatRequest['messages'][number]['content']

/** A mark of the prompt cache, in OpenAI's own spelling; the common one has no place here, and OpenAI caches unasked. */
const withBreakpoint = (part: Part, { prompt_cache_breakpoint: breakpoint }: Fields): Part =>
  breakpoint ? { ...part, prompt_cache_breakpoint: breakpoint } : part

const imagePart = (image: unknown): Part => {
  const { url, detail } = fieldsOf(image)
  const part: Part = { type: 'input_image', image_url: textOf(image) || textOf(url) }
  if (typeof detail === 'string') part.detail = detail
  return part
}

const filePart = (file: Fields, param: string): Part => {
  const data = textOf(file.file_data)
  const filename = textOf(file.filename)
  if (/^https?:/i.test(data) || typeof file.file_url === 'string')
    return { type: 'input_file', file_url: textOf(file.file_url) || data }
  if (typeof file.file_id === 'string') return { type: 'input_file', file_id: file.file_id }
  if (data === '') throw unsupported(param, 'Send the file itself as `file_data`.')
  return {
    type: 'input_file',
    filename: filename === '' ? 'document.pdf' : filename,
    file_data: /^data:/i.test(data) ? data : `data:application/pdf;base64,${data}`,
  }
}

const inputPart = (part: Fields, param: string): Part => {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: textOf(part.text) }
    case 'image_url':
      return imagePart(part.image_url)
    case 'file':
      return filePart(fieldsOf(part.file), param)
    default:
      throw unsupported(param, `The provider takes no ${textOf(part.type)} with this request.`)
  }
}

/** What a user, an instruction or a tool says. Raises `unsupported_parameter`. */
export const inputContent = (content: Content, at: number): string | Part[] =>
  typeof content === 'string'
    ? content
    : (content ?? []).map((part, i) =>
        withBreakpoint(inputPart(part, `messages[${at}].content[${i}]`), part),
      )

/** What the assistant said. Raises `unsupported_parameter`. */
export const outputContent = (content: Content, at: number): string | Part[] =>
  typeof content === 'string'
    ? content
    : (content ?? []).map((part, i): Part => {
        if (part.type === 'text') return { type: 'output_text', text: textOf(part.text) }
        if (part.type === 'refusal') return { type: 'refusal', refusal: textOf(part.refusal) }
        throw unsupported(
          `messages[${at}].content[${i}]`,
          'The provider takes only text in messages of the assistant.',
        )
      })
