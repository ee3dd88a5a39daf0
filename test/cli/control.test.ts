import {
  chmodSync,
  existsSync,
  linkSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Books, openBooks } from '../../src/books.ts'
import { type Control, controlPathFor, openControl } from '../../src/cli/control.ts'
import { ask, connectControl } from '../../src/cli/control-client.ts'

let folder: string
let databasePath: string
let books: Books
let control: Control | undefined

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-control-'))
  databasePath = join(folder, 'tollgate.db')
  books = await openBooks({ databasePath, keyLimit: 5 })
})
afterEach(async () => {
  await control?.close()
  control = undefined
  await books.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = async (path = controlPathFor(databasePath)): Promise<string> => {
  control = await openControl({ path, books })
  return path
}

const askAt = async (path: string, operation: string, args: unknown = {}): Promise<unknown> => {
  const socket = await connectControl(path)
  if (socket === undefined) throw new Error('nobody listens')
  return ask(socket, { operation, args }, 5_000)
}

/** Sends bytes as they are; what came back until the end. */
const send = (path: string, bytes: string): Promise<string> =>
  new Promise(resolve => {
    let text = ''
    const socket = connect(path, () => socket.write(bytes))
    socket.setEncoding('utf8').on('data', chunk => {
      text += chunk
    })
    socket.on('error', () => {}).on('close', () => resolve(text))
  })

/** What a crash leaves: a socket file that nobody answers. */
const leaveStale = async (path: string): Promise<void> => {
  const server = createServer()
  const elsewhere = `${path}.live`
  await new Promise<void>(resolve => server.listen(elsewhere, resolve))
  linkSync(elsewhere, path)
  await new Promise(resolve => server.close(resolve))
}

describe('the socket', () => {
  test('is for this user only, whatever the umask', async () => {
    const mask = process.umask(0)
    try {
      const path = await open()
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(process.umask()).toBe(0)
    } finally {
      process.umask(mask)
    }
  })

  test('stands beside the database, however that is named', async () => {
    const path = await open()
    expect(path).toBe(join(folder, 'tollgate.db.sock'))
    expect(controlPathFor(`${folder}/../${folder.split('/').at(-1)}/tollgate.db`)).toBe(path)
  })

  test('goes with the gateway', async () => {
    const path = await open()
    await control?.close()
    expect(existsSync(path)).toBe(false)
    expect(await connectControl(path)).toBeUndefined()
  })

  test('takes the place of one that a crash has left', async () => {
    const path = controlPathFor(databasePath)
    await leaveStale(path)
    expect(existsSync(path)).toBe(true)
    await open()
    expect(await askAt(path, 'account list')).toEqual({ data: [], has_more: false })
  })

  test('takes no place that is in use, nor of a file', async () => {
    const path = await open()
    await expect(openControl({ path, books })).rejects.toThrow('another process answers')
    expect(await askAt(path, 'account list')).toEqual({ data: [], has_more: false })
    const file = join(folder, 'notes')
    writeFileSync(file, 'mine')
    await expect(openControl({ path: file, books })).rejects.toThrow('no socket')
    expect(existsSync(file)).toBe(true)
  })

  test('of a long path lies in a folder of our own, which is refused when others may write there', async () => {
    const path = controlPathFor(join(folder, 'long'.repeat(30), 'tollgate.db'))
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103)
    expect(controlPathFor(join(folder, 'long'.repeat(31), 'tollgate.db'))).not.toBe(path)
    await open(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(await askAt(path, 'account list')).toEqual({ data: [], has_more: false })
    chmodSync(dirname(path), 0o777)
    try {
      await expect(askAt(path, 'account list')).rejects.toThrow('mode 0700')
    } finally {
      chmodSync(dirname(path), 0o700)
    }
  })
})

describe('what is sent to the socket', () => {
  test('is refused where it is no request', async () => {
    const path = await open()
    const codes: [string, string][] = [
      ['nonsense\n', 'internal_error'],
      ['null\n', 'version_mismatch'],
      ['{"version":99,"operation":"audit","args":{}}\n', 'version_mismatch'],
      ['{"version":1,"operation":"toString","args":{}}\n', 'invalid_request'],
      ['{"version":1,"operation":{},"args":{}}\n', 'invalid_request'],
      ['{"version":1,"operation":"account create"}\n', 'invalid_request'],
      ['{"version":1,"operation":"account create","args":{"name":7}}\n', 'invalid_request'],
      ['{"version":1,"operation":"key list","args":{"limit":1e9}}\n', 'invalid_request'],
    ]
    for (const [bytes, code] of codes)
      expect(JSON.parse(await send(path, bytes)), bytes).toMatchObject({ error: { code } })
    expect(books.accounts.list()).toEqual([])
  })

  test('is cut off where it is too long', async () => {
    const path = await open()
    const startMs = performance.now()
    expect(await send(path, 'x'.repeat(100_000))).toBe('')
    expect(performance.now() - startMs).toBeLessThan(3_000)
    expect(await askAt(path, 'account list')).toEqual({ data: [], has_more: false })
  })

  test('takes effect at once in the books that are open', async () => {
    const path = await open()
    const { id } = (await askAt(path, 'account create', { name: 'A', credit: '2' })) as {
      id: string
    }
    expect(books.ledger.availableNanoUsd(id)).toBe(2_000_000_000n)
    await askAt(path, 'account suspend', { id })
    expect(books.accounts.find(id)?.state).toBe('suspended')
  })

  test('is carried out and answered before the socket closes', async () => {
    const path = controlPathFor(databasePath)
    const asked = new Promise<void>(resolve => {
      const create: Books['accounts']['create'] = async account => {
        resolve()
        await sleep(300)
        return books.accounts.create(account)
      }
      const slow = { create } as Books['accounts']
      void openControl({ path, books: { ...books, accounts: slow } }).then(opened => {
        control = opened
        answer = askAt(path, 'account create', { name: 'A' })
      })
    })
    let answer: Promise<unknown> | undefined
    await asked
    await control?.close()
    expect(books.accounts.list()).toHaveLength(1)
    expect(await answer).toMatchObject({ name: 'A' })
  })

  test('does not keep the gateway from stopping', async () => {
    const path = await open()
    const idle = await connectControl(path)
    const startMs = performance.now()
    await control?.close()
    control = undefined
    expect(performance.now() - startMs).toBeLessThan(3_000)
    idle?.destroy()
  })
})
