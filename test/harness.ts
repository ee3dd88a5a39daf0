/** A whole gateway on a temporary database, with a scripted upstream as its provider `openai`, over real sockets. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../src/config.ts'
import { type Gateway, openGateway } from '../src/gateway.ts'
import { parseUsd } from '../src/ledger/money.ts'
import { providers } from '../src/providers/registry.ts'
import { createLog, type Log } from '../src/telemetry/log.ts'
import { type ScriptedUpstream, startScriptedUpstream } from './upstream/scripted-upstream.ts'

/** nano-USD a token, at the published price: $0.15 and $0.60 a million. */
export const testModel = { id: 'openai/gpt-4o-mini', inputNanoUsd: 150n, outputNanoUsd: 600n }

export type TestGateway = {
  gateway: Gateway
  upstream: ScriptedUpstream
  /** `http://127.0.0.1:PORT` */
  url: string
  folder: string
  accountId: string
  keyId: string
  key: string
  /** POST /v1/chat/completions with the test's key, the test's model, and a JSON body. */
  chat: (body: Record<string, unknown>, init?: RequestInit) => Promise<Response>
  balance: () => bigint
  close: () => Promise<void>
}

export type TestGatewayOptions = {
  /** Settings beside those of the harness. */
  env?: Record<string, string>
  /** USD on the first account. */
  credit?: string
  folder?: string
  log?: Log
}

export const startTestGateway = async ({
  env = {},
  credit = '10',
  folder,
  log = createLog('silent'),
}: TestGatewayOptions = {}): Promise<TestGateway> => {
  const upstream = await startScriptedUpstream()
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'tollgate-test-')))
  const settings = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: `file:${join(home, 'tollgate.db')}`,
    OPENAI_API_KEY: 'sk-upstream-canary',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    DRAIN_TIMEOUT: '5s',
    ...env,
  }
  const ids = providers.map(({ id }) => id)
  const gateway = await openGateway(loadConfig(settings, ids), settings, log)
  const { accounts, keyRing, ledger } = gateway.books
  const account = await accounts.create({ name: 'Test' })
  ledger.open(account.id)
  const amountNanoUsd = parseUsd(credit)
  if (amountNanoUsd > 0n) {
    await ledger.credit({ accountId: account.id, amountNanoUsd, reference: `test-${account.id}` })
  }
  const { id: keyId, key } = await keyRing.create({ accountId: account.id, name: 'Test' })
  const close = async () => {
    await gateway.stop()
    await upstream.close()
    if (folder === undefined) await rm(home, { recursive: true, force: true })
  }
  const chat = (body: Record<string, unknown>, init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: testModel.id, ...body }),
      ...init,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...init.headers,
      },
    })
  return {
    gateway,
    upstream,
    url: gateway.url,
    folder: home,
    accountId: account.id,
    keyId,
    key,
    chat,
    balance: () => ledger.snapshot(account.id).balanceNanoUsd,
    close,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what it reads, field by field.
export const readJson = (response: Response): Promise<any> => response.json()

/** The JSON payloads of a stream, `[DONE]` included as that word. */
export const readEvents = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter(frame => frame.startsWith('data: '))
    .map(frame => frame.slice('data: '.length))
    .map(data => (data === '[DONE]' ? data : JSON.parse(data)))
