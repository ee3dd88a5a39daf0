import type { IncomingMessage } from 'node:http'
import type { ZodError } from 'zod'
import { GatewayError } from '../errors.ts'
import { type ChatRequest, ChatRequestSchema } from '../wire/chat.ts'

export type ReceivedChat = {
  chat: ChatRequest
  /** Size of the body as it came: the basis of the estimate. */
  bytes: number
}

/**
 * Reads and validates one chat request. Raises `unsupported_media_type`, `request_too_large`, `invalid_request` (with
 * the JSON path in `param`) and `unsupported_parameter`.
 */
export const receiveChat = async (
  message: IncomingMessage,
  limitBytes: number,
): Promise<ReceivedChat> => {
  requireJson(message.headers['content-type'])
  const body = await readBody(message, limitBytes)
  const chat = validate(parseJson(body))
  refuseUnpriced(chat)
  return { chat, bytes: body.length }
}

const requireJson = (contentType: string | undefined): void => {
  if (contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType)) return
  throw new GatewayError(
    'unsupported_media_type',
    'Send the request as JSON, with the header "Content-Type: application/json".',
  )
}

const tooLarge = (limitBytes: number): GatewayError =>
  new GatewayError('request_too_large', `The request body is larger than ${limitBytes} bytes.`, {
    metadata: { limit_bytes: limitBytes },
    // What is still on its way is not read, so the connection is of no more use.
    headers: { connection: 'close' },
  })

const readBody = (message: IncomingMessage, limitBytes: number): Promise<Buffer> => {
  if (Number(message.headers['content-length']) > limitBytes) {
    return Promise.reject(tooLarge(limitBytes))
  }
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const onData = (part: Buffer) => {
      size += part.length
      if (size <= limitBytes) {
        parts.push(part)
        return
      }
      message.off('data', onData)
      reject(tooLarge(limitBytes))
    }
    message.on('data', onData)
    message.once('end', () => {
      resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts))
    })
    // Also comes after every good end, where an error would be made for nothing.
    message.once('close', () => {
      if (!message.complete) {
        reject(new GatewayError('invalid_request', 'The request body broke off.'))
      }
    })
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    // The parser's own words quote the body, which belongs in no message and no log.
    throw new GatewayError('invalid_request', 'The request body is not valid JSON in UTF-8.')
  }
}

const validate = (value: unknown): ChatRequest => {
  const result = ChatRequestSchema.safeParse(value)
  // The parsed copy would lose nothing either, but what came is what is passed on.
  // `as`: the schema has just proven the shape.
  if (result.success) return value as ChatRequest
  throw toInvalidRequest(result.error)
}

const toInvalidRequest = (error: ZodError): GatewayError => {
  const [issue] = error.issues
  const { path, message } = issue ? innermost(issue) : noChat
  const param = jsonPath(path)
  return param === ''
    ? new GatewayError('invalid_request', message)
    : new GatewayError('invalid_request', `${param}: ${message}`, { param })
}

type Fault = { path: readonly PropertyKey[]; message: string }

const noChat: Fault = { path: [], message: 'The request is not a chat completion.' }

/** Of a field that may be several things: what is wrong inside the one that was meant. */
const innermost = (issue: ZodError['issues'][number]): Fault => {
  if (issue.code !== 'invalid_union') return issue
  const inner = issue.errors.flatMap(([first]) => first ?? []).find(({ path }) => path.length > 0)
  if (inner === undefined) return issue
  const { path, message } = innermost(inner)
  return { path: [...issue.path, ...path], message }
}

/** `messages[2].content`, as OpenAI writes it. */
const jsonPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? String(part) : `${text}.${String(part)}`
  }, '')

/**
 * Fields with which a provider searches, reads files or swaps the model at a fee of its own: OpenAI's, OpenRouter's
 * (https://openrouter.ai/docs/features/web-search), xAI's, Perplexity's and Qwen's, as of 2026-11.
 */
const pricedApart = [
  'web_search_options',
  'plugins',
  'preset',
  'search_parameters',
  'search_context_size',
  'enable_search',
  'search_options',
] as const

/** What changes the price in a way that no rate here covers is refused, never passed along blind. */
const refuseUnpriced = (chat: ChatRequest): void => {
  const tier = chat.service_tier
  if (tier && tier !== 'auto' && tier !== 'default' && tier !== 'standard_only') {
    throw unsupported(
      'service_tier',
      'Only the default service tier is priced here; leave service_tier out.',
    )
  }
  const extra = pricedApart.find(name => Boolean(chat[name]))
  if (extra) {
    throw unsupported(extra, `What ${extra} makes a provider do is not priced here; leave it out.`)
  }
  const tools = chat.tools ?? []
  const foreign = tools.findIndex(tool => tool.type !== 'function' && tool.type !== 'custom')
  if (foreign !== -1) {
    throw unsupported(
      `tools[${foreign}].type`,
      "The provider's own tools are not priced here; only tools of type function are taken.",
    )
  }
}

const unsupported = (param: string, message: string): GatewayError =>
  new GatewayError('unsupported_parameter', message, { param })
