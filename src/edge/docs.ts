/** `/openapi.json`, `/docs` and `/`: the API told to programs, to people, and to whoever comes by. */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../errors.ts'
import type { Operation } from '../wire/operation.ts'
import { renderDocs } from './docs-page.ts'
import { docsIcon, docsStyle } from './docs-style.ts'
import { baseUrlMark } from './guide.ts'
import { escaped } from './html.ts'
import { buildOpenApi, type OpenApiDocument } from './openapi.ts'

export type DocsDeps = {
  operations: readonly Operation<ErrorCode>[]
  version: string
  /** Where clients reach the gateway, without a final slash; `null`: wherever they did. */
  publicUrl: string | null
}

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 12)

const stylePath = '/docs/style.css'
const iconPath = '/docs/icon.svg'
const styleUrl = `${stylePath}?v=${digest(docsStyle)}`

/** No script at all, and nothing from elsewhere. */
const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Built when first asked for, so that no start waits for it; made once, so that both prefixes share it. */
export const docsRoutes = ({
  operations,
  version,
  publicUrl,
}: DocsDeps): ((app: FastifyInstance) => void) => {
  const document = once((): OpenApiDocument => buildOpenApi({ operations, version }))
  const json = once(() => JSON.stringify(document()))
  const page = once(() => renderDocs(document(), { styleUrl, iconUrl: iconPath }))

  const baseUrl = (request: FastifyRequest): string => `${publicUrl ?? originOf(request)}/v1`

  return app => {
    app.get('/openapi.json', (request, reply) => {
      const inJson = JSON.stringify(baseUrl(request)).slice(1, -1)
      return send(request, reply, 'application/json', json().replaceAll(baseUrlMark, inJson))
    })
    app.get('/docs', (request, reply) => {
      const inHtml = escaped(baseUrl(request)).text
      return send(request, reply, 'text/html', page().replaceAll(baseUrlMark, inHtml))
    })
    app.get(stylePath, (_request, reply) => keep(reply).type('text/css').send(docsStyle))
    app.get(iconPath, (_request, reply) => keep(reply).type('image/svg+xml').send(docsIcon))
    app.get('/', (request, reply) => {
      if (request.headers.accept?.includes('text/html')) return reply.redirect('/docs', 302)
      const origin = publicUrl ?? originOf(request)
      const docs = { docs: `${origin}/docs`, openapi: `${origin}/openapi.json` }
      return reply.send({ name: 'Tollgate', version, base_url: baseUrl(request), ...docs })
    })
  }
}

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** What the client itself wrote is put into a page, so only what an address can hold. */
const originOf = ({ protocol, host }: FastifyRequest): string =>
  /^[\w.:[\]-]{1,255}$/.test(host) ? `${protocol}://${host}` : ''

const send = (
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  text: string,
): FastifyReply => {
  const etag = `"${digest(text)}"`
  reply.headers({ ...pageHeaders, 'cache-control': 'no-cache', etag })
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
  return reply.type(`${type}; charset=utf-8`).send(text)
}

/** The style's address changes with the style. */
const keep = (reply: FastifyReply): FastifyReply =>
  reply.headers({ ...pageHeaders, 'cache-control': 'public, max-age=86400' })
