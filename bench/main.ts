/**
 * `npm run bench`: what the gateway costs beyond the least that a proxy in Node can cost (the floor), on one machine,
 * in one go, in turns. Progress goes to stderr, one Markdown table to stdout. In the end the gateway must have charged
 * exactly what it served: a benchmark of a gateway that does not charge is worthless.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureSync } from './disk.ts'
import { type PreparedGateway, prepareGateway } from './gateway.ts'
import * as measure from './measure.ts'
import { killAll, startScript, stop } from './process.ts'
import { markdownTable, quantile, type Row } from './report.ts'
import { answersOf, chargeNanoUsd, nothingServed } from './workload.ts'

const help = `npm run bench -- [options]
  --quick              about a minute instead of about eight
  --only LIST          of json, stream, translated, latency, memory (comma-separated)
  --connections LIST   instead of 1,8,32,64,256,512; 4096 needs \`ulimit -n\` above 10000
  --many               4096 open streams for the memory
  --floor-only         without the gateway
  --folder DIR         where the database lies while it runs (./data); its disk is what commits wait for
  --json FILE          all figures of all rounds
  --cpu-prof DIR       write a CPU profile of the gateway there when it stops
  --help`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: 'json,stream,translated,latency,memory' },
    connections: { type: 'string' },
    many: { type: 'boolean', default: false },
    'floor-only': { type: 'boolean', default: false },
    folder: { type: 'string', default: 'data' },
    json: { type: 'string' },
    'cpu-prof': { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const connectionsGiven = options.connections?.split(',').map(Number)
const plan: measure.Plan = options.quick
  ? {
      warmUpRequests: 10_000,
      rounds: 2,
      connections: connectionsGiven ?? [32, 256],
      largeAt: connectionsGiven ?? [32],
      pacedAt: connectionsGiven ?? [32],
      jsonMs: 1_000,
      streamMs: 1_000,
      latencyMs: 2_000,
      firstEventMs: 1_000,
      memoryStreams: options.many ? 4096 : 512,
    }
  : {
      warmUpRequests: 20_000,
      rounds: 5,
      connections: connectionsGiven ?? [1, 8, 32, 64, 256, 512],
      largeAt: connectionsGiven ?? [32, 256],
      pacedAt: connectionsGiven ?? [32, 256],
      jsonMs: 1_200,
      streamMs: 1_500,
      latencyMs: 3_000,
      firstEventMs: 1_000,
      memoryStreams: options.many ? 4096 : 512,
    }
const wanted = new Set(options.only.split(','))

type Servers = { targets: measure.Target[]; stop(): Promise<void> }

/** Floor and gateway, freshly started, and the upstream itself. */
const startServers = async (
  upstream: measure.Target,
  gateway: PreparedGateway | null,
): Promise<Servers> => {
  const target = (
    name: measure.TargetName,
    server: measure.Target['server'],
    key: string,
  ): measure.Target => ({
    name,
    server,
    key,
    served: nothingServed(),
  })
  const url = `http://127.0.0.1:${upstream.server.port}`
  const floor = await startScript(import.meta.resolve('./floor.ts'), [url, '10000'])
  const targets = [upstream, target('floor', floor, 'x')]
  if (gateway === null) return { targets, stop: async () => void (await stop(floor.child)) }
  const server = await gateway.start()
  const paying = target('gateway', server, gateway.key)
  return {
    targets: [...targets, paying],
    stop: async () => {
      await stop(floor.child)
      await gateway.stop(server)
      expectedNanoUsd += chargeNanoUsd(paying.served)
      served += answersOf(paying.served)
    },
  }
}

const proxies = ({ targets }: Servers) => targets.filter(({ name }) => name !== 'direct')

let expectedNanoUsd = 0n
let served = 0

const run = async (folder: string): Promise<void> => {
  const mock = await startScript(import.meta.resolve('./mock-upstream.ts'))
  const upstream: measure.Target = {
    name: 'direct',
    server: mock,
    key: 'x',
    served: nothingServed(),
  }
  const gateway = options['floor-only']
    ? null
    : await prepareGateway(folder, `http://127.0.0.1:${mock.port}`, options['cpu-prof'])
  const rows: Row[] = []
  const sync = await measureSync(folder, 200)

  const servers = await startServers(upstream, gateway)
  await measure.warmUp(servers.targets, plan.warmUpRequests)
  if (wanted.has('json')) rows.push(...(await measure.measureJson(servers.targets, plan)))
  if (wanted.has('stream')) rows.push(...(await measure.measureStreams(proxies(servers), plan)))
  const paying = servers.targets.find(({ name }) => name === 'gateway')
  if (wanted.has('translated') && paying)
    rows.push(...(await measure.measureTranslated(paying, plan)))
  if (wanted.has('latency')) {
    sync.push(...(await measureSync(folder, 200)))
    const syncMs = { p50: quantile(sync, 0.5), p99: quantile(sync, 0.99) }
    rows.push(...(await measure.measureLatency(servers.targets, plan, syncMs)))
    rows.push(...(await measure.measureFirstEvent(servers.targets, plan)))
  }
  await servers.stop()

  if (wanted.has('memory')) {
    const fresh = await startServers(upstream, gateway)
    rows.push(...(await measure.measureMemory(proxies(fresh), plan)))
    await fresh.stop()
  }
  await stop(mock.child)
  report(rows, sync, gateway === null ? null : await gateway.audit())
}

const report = (
  rows: readonly Row[],
  sync: readonly number[],
  chargedNanoUsd: bigint | null,
): void => {
  const [p50, p99] = [0.5, 0.99].map(part => quantile(sync, part).toFixed(2))
  const machine = `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model.trim()}, ${process.platform}`
  const disk = `fdatasync of 4 KiB p50 ${p50} ms, p99 ${p99} ms`
  const setting = `${machine}; ${disk}; medians of ${plan.rounds} rounds, load and upstream on the same machine.`
  process.stdout.write(`${markdownTable(rows)}\n\n${setting}\n`)
  if (options.json) writeFileSync(options.json, JSON.stringify({ setting, rows, sync }, null, 2))
  if (chargedNanoUsd === null) return
  const right = chargedNanoUsd === expectedNanoUsd
  const usd = (nano: bigint): string => `$${(Number(nano) / 1e9).toFixed(6)}`
  process.stdout.write(
    `\nCharged ${usd(chargedNanoUsd)} for ${served.toLocaleString('en')} answers worth ${usd(expectedNanoUsd)}: ` +
      `${right ? 'exact' : 'WRONG'}; audit clean.\n`,
  )
  if (!right) process.exitCode = 1
}

if (options.help) {
  process.stdout.write(`${help}\n`)
} else if (process.platform !== 'linux') {
  process.stderr.write('The benchmark reads CPU and memory from /proc: Linux only.\n')
  process.exitCode = 1
} else {
  mkdirSync(options.folder, { recursive: true })
  const folder = mkdtempSync(join(options.folder, 'bench-'))
  const tidy = (): void => {
    killAll()
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('SIGINT', () => {
    tidy()
    process.exit(130)
  })
  await run(folder).finally(tidy)
}
