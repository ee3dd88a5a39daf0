import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FetchRefused, GuardedFetcher } from '../../src/egress/guarded-fetcher.ts'
import { isPublicAddress } from '../../src/egress/public-address.ts'

/** Stands for a public server; all else on the loopback stays what it is. */
const publicHost = '127.0.0.2'
const allows = (address: string) => address === publicHost || isPublicAddress(address)

const servers: Server[] = []
const listen = (host: string, listener: RequestListener): Promise<string> =>
  new Promise(resolve => {
    const server = createServer(listener).listen(0, host, () => {
      resolve(`http://${host}:${(server.address() as AddressInfo).port}`)
    })
    servers.push(server)
  })

let outside = ''
let inside = ''
let insideHits = 0
let lastHeaders: Record<string, unknown> = {}

const answers: Record<string, RequestListener> = {
  '/image': (request, response) => {
    lastHeaders = request.headers
    response.writeHead(200, { 'content-type': 'Image/PNG; charset=binary' }).end('pixels')
  },
  '/to-loopback': (_, response) => {
    response.writeHead(302, { location: `${inside}/secret` }).end('x')
  },
  '/to-decimal': (_, response) => {
    response.writeHead(302, { location: 'http://2130706433/' }).end()
  },
  '/to-file': (_, response) => {
    response.writeHead(301, { location: 'file:///etc/passwd' }).end()
  },
  '/twice': (_, response) => {
    response.writeHead(307, { location: '/once' }).end()
  },
  '/once': (_, response) => {
    response.writeHead(308, { location: 'image' }).end()
  },
  '/round': (_, response) => {
    response.writeHead(302, { location: '/round' }).end()
  },
  '/long': (_, response) => {
    response.writeHead(200, { 'content-length': '5000' }).end(Buffer.alloc(5_000))
  },
  '/endless': (_, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(700)), 1)
    response.on('close', () => clearInterval(timer))
  },
  '/slow': () => {},
  '/zipped': (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
  },
  '/broken': (request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('x')
    setTimeout(() => request.socket.destroy(), 10)
  },
  '/missing': (_, response) => {
    response.writeHead(404).end('who are you')
  },
}

const lies = new Map<string, string[][]>()
const fetcher = new GuardedFetcher({
  maxBytes: 2_000,
  timeoutMs: 500,
  allows,
  resolve: (hostname, done) => {
    const turns = lies.get(hostname) ?? []
    const addresses = (turns.length > 1 ? turns.shift() : turns[0]) ?? []
    if (addresses.length === 0) done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), [])
    else
      done(
        null,
        addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
  },
})

const refusal = async (url: string): Promise<string> => {
  try {
    await fetcher.fetch(url)
  } catch (error) {
    if (error instanceof FetchRefused) return error.message
    throw error
  }
  return 'fetched'
}

beforeAll(async () => {
  outside = await listen(publicHost, (request, response) => {
    answers[request.url ?? '']?.(request, response)
  })
  inside = await listen('127.0.0.1', (_, response) => {
    insideHits++
    response.end('secret')
  })
})

afterAll(async () => {
  await fetcher.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

describe('addresses', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '1.2.3',
  ])('%s is not public', address => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '223.255.255.255',
    '2001:4860:4860::8888',
    '2606:4700:4700::1111',
    '2a00:1450::1',
  ])('%s is public', address => {
    expect(isPublicAddress(address)).toBe(true)
  })
})

describe('what must not be reached', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[0:0:0:0:0:ffff:169.254.169.254]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1:8080/',
    'https://192.168.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
  ])('%s', async url => {
    expect(await refusal(url)).toBe('its address is not a public one')
  })

  test.each([
    ['localhost', [['127.0.0.1']]],
    ['mapped.test', [['::ffff:127.0.0.1']]],
    ['metadata.test', [['169.254.169.254']]],
    ['one-of-two.test', [['93.184.216.34', '10.0.0.1']]],
    ['six.test', [['::1']]],
  ])('the name %s', async (name, turns) => {
    lies.set(name, turns)
    expect(await refusal(`http://${name}/`)).toBe('its address is not a public one')
  })

  test('a name that turns to the loopback once it was looked at', async () => {
    lies.set('rebinding.test', [[publicHost], ['127.0.0.1']])
    const port = new URL(outside).port
    expect(await refusal(`http://rebinding.test:${port}/image`)).toBe('fetched')
    const other = new URL(inside).port
    expect(await refusal(`http://rebinding.test:${other}/secret`)).toBe(
      'its address is not a public one',
    )
  })

  test('a redirect to the loopback, to a number that is the loopback, to a file', async () => {
    expect(await refusal(`${outside}/to-loopback`)).toBe('its address is not a public one')
    expect(await refusal(`${outside}/to-decimal`)).toBe('its address is not a public one')
    expect(await refusal(`${outside}/to-file`)).toBe('it is not an http or https URL')
    expect(insideHits).toBe(0)
  })

  test.each([
    ['ftp://8.8.8.8/', 'it is not an http or https URL'],
    ['file:///etc/passwd', 'it is not an http or https URL'],
    ['gopher://8.8.8.8/', 'it is not an http or https URL'],
    ['http://user:pw@8.8.8.8/', 'it holds credentials'],
    ['http://[fe80::1%25eth0]/', 'it is not a URL'],
    ['http:///', 'it is not a URL'],
    ['nonsense', 'it is not a URL'],
    [`https://8.8.8.8/${'x'.repeat(9_000)}`, 'it is not a URL'],
    ['http://unknown.test/', 'its server can not be reached'],
  ])('%s', async (url, message) => {
    expect(await refusal(url)).toBe(message)
  })
})

describe('what comes back', () => {
  test('is the body with its media type, asked for without credentials or compression', async () => {
    const { mediaType, bytes } = await fetcher.fetch(`${outside}/image`)
    expect([mediaType, bytes.toString()]).toEqual(['image/png', 'pixels'])
    expect(lastHeaders).toMatchObject({ 'accept-encoding': 'identity' })
    expect(Object.keys(lastHeaders)).not.toContain('authorization')
    expect(Object.keys(lastHeaders)).not.toContain('cookie')
  })

  test('comes by way of redirects too', async () => {
    expect((await fetcher.fetch(`${outside}/twice`)).bytes.toString()).toBe('pixels')
  })

  test.each([
    ['/round', 'it redirects too often'],
    ['/long', 'it is larger than 2000 bytes'],
    ['/endless', 'it is larger than 2000 bytes'],
    ['/slow', 'its server took too long'],
    ['/zipped', 'its server compressed it'],
    ['/missing', 'its server answered with status 404'],
    ['/broken', 'its server can not be reached'],
  ])('%s is refused', async (path, message) => {
    expect(await refusal(outside + path)).toBe(message)
  })

  test('ends when the client leaves', async () => {
    const leaving = new AbortController()
    const fetching = fetcher.fetch(`${outside}/slow`, leaving.signal)
    setTimeout(() => leaving.abort(), 20)
    await expect(fetching).rejects.toThrow(FetchRefused)
  })

  test('is refused past the number of fetches at once', async () => {
    const narrow = new GuardedFetcher({ allows, maxFetches: 1, timeoutMs: 200 })
    const first = narrow.fetch(`${outside}/slow`).catch(() => {})
    await expect(narrow.fetch(`${outside}/image`)).rejects.toThrow('as much as it can')
    await first
    expect((await narrow.fetch(`${outside}/image`)).bytes.toString()).toBe('pixels')
    await narrow.close()
  })
})
