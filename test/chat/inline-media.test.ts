import { describe, expect, test } from 'vitest'
import { findMedia, inlineMedia } from '../../src/chat/inline-media.ts'
import { type Fetched, FetchRefused } from '../../src/egress/guarded-fetcher.ts'
import { GatewayError } from '../../src/errors.ts'
import type { ChatRequest } from '../../src/wire/chat.ts'

const png = Buffer.from('89504e470d0a1a0a', 'hex')
const web: Record<string, Fetched> = {
  'https://a.test/cat.png': { mediaType: 'image/png', bytes: png },
  'https://a.test/vague': { mediaType: 'application/octet-stream', bytes: png },
  'https://a.test/page': { mediaType: 'text/html', bytes: Buffer.from('<html>') },
  'https://a.test/report.pdf?x=1': { mediaType: '', bytes: Buffer.from('%PDF-1.7') },
  'https://a.test/clip.mp4': { mediaType: 'video/mp4', bytes: Buffer.from('mp4') },
  'https://a.test/odd': { mediaType: 'text/html,<script>', bytes: png },
  'https://a.test/big': { mediaType: 'image/png', bytes: Buffer.alloc(20 * 1024 * 1024) },
}

let asked: string[] = []
const fetcher = {
  fetch: async (url: string) => {
    asked.push(url)
    const found = web[url.replace(/#.*/, '')]
    if (!found) throw new FetchRefused('its address is not a public one')
    return found
  },
}

const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } })
const file = (fields: object) => ({ type: 'file', file: fields })
const chatOf = (...content: { type: string }[]): ChatRequest => ({
  model: 'a/b',
  messages: [{ role: 'user', content }],
})
const inline = (chat: ChatRequest, wanted: true | ((url: string) => boolean) = true) => {
  asked = []
  return inlineMedia(chat, findMedia(chat, wanted), fetcher, new AbortController().signal)
}
const partsOf = async (chat: Promise<ChatRequest>) => (await chat).messages[0]?.content

const failure = async (chat: Promise<unknown>): Promise<GatewayError> => {
  try {
    await chat
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  return expect.fail('it was not refused')
}

const pngUri = `data:image/png;base64,${png.toString('base64')}`

describe('URLs become bytes', () => {
  test('of images, keeping what stands beside the URL', async () => {
    expect(await partsOf(inline(chatOf(image('https://a.test/cat.png'))))).toEqual([image(pngUri)])
  })

  test('of images whose server names no type, by their first bytes', async () => {
    expect(await partsOf(inline(chatOf(image('https://a.test/vague'))))).toEqual([image(pngUri)])
  })

  test('of files, under their name, and of videos', async () => {
    const chat = chatOf(
      file({ file_url: 'https://a.test/report.pdf?x=1' }),
      file({ file_data: 'https://a.test/cat.png', filename: 'me.png' }),
      { type: 'video_url', video_url: { url: 'https://a.test/clip.mp4' } } as { type: string },
    )
    const pdf = `data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`
    expect(await partsOf(inline(chat))).toEqual([
      file({ file_data: pdf, filename: 'report.pdf' }),
      file({ file_data: pngUri, filename: 'me.png' }),
      {
        type: 'video_url',
        video_url: { url: `data:video/mp4;base64,${Buffer.from('mp4').toString('base64')}` },
      },
    ])
  })

  test('in any message, once for the same URL, without touching the request itself', async () => {
    const chat = chatOf(image('https://a.test/cat.png'), image('https://a.test/cat.png'))
    chat.messages.push({ role: 'tool', content: [image('https://a.test/cat.png')] })
    const before = structuredClone(chat)
    const inlined = await inline(chat)
    expect(JSON.stringify(inlined)).not.toContain('a.test')
    expect(asked).toHaveLength(1)
    expect(chat).toEqual(before)
  })
})

describe('left as they are', () => {
  test.each<[string, ChatRequest]>([
    ['text', chatOf({ type: 'text', text: 'https://a.test/cat.png' } as { type: string })],
    ['data URIs', chatOf(image(pngUri))],
    ['ids and other schemes', chatOf(file({ file_id: 'f1' }), file({ file_data: 'gs://b/o' }))],
  ])('%s', (_, chat) => {
    expect(findMedia(chat, true)).toEqual([])
  })

  test('URLs that the dialect reads itself', async () => {
    const chat = chatOf(image('https://own.test/1'), image('https://a.test/cat.png'))
    const parts = await partsOf(inline(chat, url => !url.startsWith('https://own.test/')))
    expect(parts).toEqual([image('https://own.test/1'), image(pngUri)])
  })
})

describe('refused, naming the part', () => {
  test.each([
    ['http://127.0.0.1/', 'its address is not a public one'],
    ['https://a.test/page', 'its server does not call it an image'],
    ['https://a.test/clip.mp4', 'its server does not call it an image'],
  ])('%s as an image', async (url, reason) => {
    const error = await failure(inline(chatOf(image('https://a.test/cat.png'), image(url))))
    expect(error).toMatchObject({ code: 'invalid_request', param: 'messages[0].content[1]' })
    expect(error.message).toContain(reason)
    expect(error.message).not.toContain(url)
  })

  test('a media type that would break the data URI', async () => {
    const error = await failure(inline(chatOf(file({ file_data: 'https://a.test/odd' }))))
    expect(error).toMatchObject({ code: 'invalid_request', param: 'messages[0].content[0]' })
  })

  test('more than 32, before one is fetched', async () => {
    const many = Array.from({ length: 33 }, (_, i) => image(`https://a.test/cat.png#${i}`))
    expect(await failure(inline(chatOf(...many)))).toMatchObject({
      param: 'messages[0].content[32]',
    })
    expect(asked).toEqual([])
  })

  test('more than 48 MiB in all', async () => {
    const big = [1, 2, 3, 4, 5].map(i => image(`https://a.test/big#${i}`))
    expect((await failure(inline(chatOf(...big)))).message).toContain('together')
    expect(asked.length).toBeLessThan(6)
  })
})
