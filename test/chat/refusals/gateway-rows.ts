/** Refusals that the gateway's own state causes: each row starts a gateway of its own, since it spoils it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSqlite } from '../../../src/db/sqlite.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { startTestGateway, type TestGateway } from '../../harness.ts'
import type { RawReply } from '../../raw-socket.ts'
import { asking, chat, hello, rawChat, toReply } from './row.ts'

export type GatewayRow = {
  name: string
  code: ErrorCode
  headers?: Record<string, string>
  message?: RegExp
  /** Spoils a gateway, asks it, and mends it as far as that can be. */
  provoke: (at: TestGateway) => Promise<RawReply>
  start?: () => Promise<TestGateway>
}

const expired = async (): Promise<TestGateway> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-expired-'))
  const before = await startTestGateway({ folder })
  const { db } = before.gateway.books
  const statement = db.prepare('UPDATE api_keys SET expires_at_ms = ? WHERE id = ?')
  await db.write([{ statement, params: [Date.now() - 1, before.keyId] }])
  await before.close()
  const after = await startTestGateway({ folder })
  const close = async () => {
    await after.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { ...after, key: before.key, close }
}

export const gatewayRows: GatewayRow[] = [
  {
    name: 'a key that has expired',
    code: 'api_key_expired',
    start: expired,
    provoke: rawChat({}),
    message: /expired on \d{4}-\d\d-\d\d/,
    headers: { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_token"' },
  },
  {
    name: 'a gateway that is stopping, on a connection that it still has',
    code: 'draining',
    provoke: async at => {
      at.gateway.inFlight.drain()
      return await chat({})(at)
    },
    headers: { 'retry-after': '1', connection: 'close' },
  },
  {
    name: 'a database that takes no commit, at the settle',
    code: 'ledger_unavailable',
    provoke: async at => await whileLocked(at, () => chat({ messages: asking({}) })(at)),
    headers: { 'retry-after': '2' },
  },
  {
    name: 'a database that takes no commit, before anything is sent upstream',
    code: 'ledger_unavailable',
    provoke: async at =>
      await whileLocked(at, async () => {
        await chat({ messages: asking({}) })(at)
        const sent = at.upstream.requests.length
        const reply = await chat({ messages: asking({}) })(at)
        if (at.upstream.requests.length !== sent) throw new Error('it was sent upstream')
        return reply
      }),
    headers: { 'retry-after': '2' },
  },
  {
    name: 'a fault of the gateway itself, planted here, of which the client learns nothing',
    code: 'internal_error',
    provoke: async at => {
      at.gateway.catalogue.resolve = () => {
        throw new Error('planted secret')
      }
      return await toReply(await at.chat({ messages: hello }))
    },
    message: /^(?!.*planted).*$/,
  },
]

/** Another connection holds the write lock: each commit fails once SQLite has waited its 5 s. */
const whileLocked = async <T>(at: TestGateway, ask: () => Promise<T>): Promise<T> => {
  const Sqlite = await loadSqlite()
  const other = new Sqlite(join(at.folder, 'tollgate.db'))
  other.exec('BEGIN IMMEDIATE')
  try {
    return await ask()
  } finally {
    other.exec('ROLLBACK')
    other.close()
  }
}
