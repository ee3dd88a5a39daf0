/** The measurements: each runs its targets in turns, round by round, so that a noisy minute falls on all of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { closedLoop, type LoadResult, openConnections, openLoop } from './load.ts'
import { cpuUs, peakRssBytes, rssBytes, type ServerProcess } from './process.ts'
import { median, quantile, type Row } from './report.ts'
import {
  chunksPerStream,
  jsonBody,
  type Pace,
  type Served,
  streamBody,
  type TranslatedWire,
  type Wire,
} from './workload.ts'

export type TargetName = 'direct' | 'floor' | 'gateway'

/** Something that answers chat completions, and what it has answered so far. */
export type Target = {
  name: TargetName
  server: ServerProcess
  key: string
  served: Served
}

export type Plan = {
  warmUpRequests: number
  rounds: number
  connections: readonly number[]
  /** Requests of 3 kB are measured at these numbers of connections alone. */
  largeAt: readonly number[]
  /** As are streams that come chunk by chunk. */
  pacedAt: readonly number[]
  jsonMs: number
  streamMs: number
  latencyMs: number
  firstEventMs: number
  memoryStreams: number
}

const progress = (line: string): void => void process.stderr.write(`${line}\n`)

/** Whole answers, or streams whose upstream speaks that format. */
type Kind = 'json' | Wire

const finished = (target: Target, kind: Kind, result: LoadResult): LoadResult => {
  if (result.failed > 0) {
    throw new Error(
      `${target.name}: ${result.failed} answers failed, one of them: ${result.firstFailure}`,
    )
  }
  if (kind === 'json') target.served.json += result.completed
  else target.served.streams[kind] += result.completed
  return result
}

const load = ({ server, key }: Target, body: string, kind: Kind) => ({
  port: server.port,
  key,
  body,
  stream: kind !== 'json',
})

/** Calls `measure` for each target in each round, the order turned each time; collects its figures by target. */
const inTurns = async <One extends { name: string }>(
  targets: readonly One[],
  rounds: number,
  measure: (target: One) => Promise<Record<string, number>>,
): Promise<(figure: string) => Partial<Record<One['name'], number[]>>> => {
  const figures = new Map(targets.map(({ name }) => [name, [] as Record<string, number>[]]))
  for (let round = 0; round < rounds; round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      figures.get(target.name)?.push(await measure(target))
    }
  }
  return figure =>
    // `as`: fromEntries forgets which names there are.
    Object.fromEntries(
      [...figures].map(([name, all]) => [name, all.map(one => one[figure] ?? 0)]),
    ) as Partial<Record<One['name'], number[]>>
}

/** Closed loop of so many connections. The opening of connections, here and upstream, is no part of the figures. */
const closed = async (
  target: Target,
  body: string,
  kind: Kind,
  connections: number,
  durationMs: number,
) => {
  const open = await openConnections(target.server.port, connections)
  finished(target, 'json', await closedLoop(load(target, jsonBody(150), 'json'), open, 200))
  const cpuBefore = cpuUs(target.server)
  const result = await closedLoop(load(target, body, kind), open, durationMs)
  finished(target, kind, result)
  // What is left of the last requests: log lines, commits.
  await sleep(50)
  const units = result.completed * (kind === 'json' ? 1 : chunksPerStream)
  const figures = {
    perSecond: (units * 1000) / result.elapsedMs,
    cpuUs: (cpuUs(target.server) - cpuBefore) / units,
    firstEventMs: median(result.firstEventMs),
  }
  for (const connection of open) connection.close()
  return figures
}

/** Until the engine has compiled what is hot: counted in requests, for a slow machine needs longer; at most 20 s each. */
export const warmUp = async (targets: readonly Target[], requests: number): Promise<void> => {
  progress('warming up')
  for (const target of targets) {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
      if (target.served.json >= requests) break
      await closed(target, jsonBody(150), 'json', 32, 500)
      await closed(target, streamBody({ delayMs: 0, gapMs: 0 }), 'chat-completions', 32, 250)
    }
  }
}

export const measureJson = async (targets: readonly Target[], plan: Plan): Promise<Row[]> => {
  const rows: Row[] = []
  for (const [bytes, size, sizes] of [
    [150, '150 B', plan.connections],
    [3000, '3 kB', plan.largeAt],
  ] as const) {
    for (const connections of sizes) {
      progress(`JSON, ${size}, ${connections} connections`)
      const body = jsonBody(bytes)
      const figures = await inTurns(targets, plan.rounds, target =>
        closed(target, body, 'json', connections, plan.jsonMs),
      )
      const goal = [32, 256].includes(connections) ? { now: 3, final: 2 } : undefined
      rows.push(
        {
          what: `CPU per JSON request, ${size}`,
          connections,
          unit: 'µs',
          compare: 'ratio',
          ...figures('cpuUs'),
          goal,
        },
        {
          what: `JSON requests/s, ${size}`,
          connections,
          unit: '/s',
          compare: 'ratio',
          ...figures('perSecond'),
        },
      )
    }
  }
  return rows
}

/** So paced that all streams together send about 13,000 chunks a second, whatever their number: busy, not saturated. */
const paceOf = (connections: number): Pace => ({
  delayMs: 0,
  gapMs: Math.max(2, Math.round(connections / 12.8)),
})

/**
 * In a burst, a proxy reads and writes many chunks at once and its own work per chunk shows; paced, each chunk costs
 * the system calls of its own trip, as in real life.
 */
export const measureStreams = async (targets: readonly Target[], plan: Plan): Promise<Row[]> => {
  const rows: Row[] = []
  for (const [how, sizes, pace] of [
    ['in a burst', plan.connections, () => ({ delayMs: 0, gapMs: 0 })],
    ['paced', plan.pacedAt, paceOf],
  ] as const) {
    for (const connections of sizes) {
      progress(`streams of ${chunksPerStream} chunks, ${how}, ${connections} connections`)
      const body = streamBody(pace(connections))
      const figures = await inTurns(targets, plan.rounds, target =>
        closed(target, body, 'chat-completions', connections, plan.streamMs),
      )
      const goal = connections >= 32 ? { now: 1.5, final: 1.2 } : undefined
      const what = `CPU per streamed chunk, ${how}`
      rows.push({ what, connections, unit: 'µs', compare: 'ratio', ...figures('cpuUs'), goal })
    }
  }
  return rows
}

const translated: readonly TranslatedWire[] = ['anthropic-messages', 'gemini']
const translatedConnections = 32

/** What a chunk costs the gateway when the upstream speaks another format, against one that it passes through. */
export const measureTranslated = async (gateway: Target, plan: Plan): Promise<Row[]> => {
  const wires = (['chat-completions', ...translated] as const).map(name => ({ name }))
  progress('warming up translated streams')
  for (const { name } of wires) {
    const body = streamBody({ delayMs: 0, gapMs: 0 }, name)
    await closed(gateway, body, name, translatedConnections, 2 * plan.streamMs)
  }
  const rows: Row[] = []
  for (const [how, pace] of [
    ['in a burst', { delayMs: 0, gapMs: 0 }],
    ['paced', paceOf(translatedConnections)],
  ] as const) {
    progress(`translated streams, ${how}, ${translatedConnections} connections`)
    const figures = await inTurns(wires, plan.rounds, ({ name }) =>
      closed(gateway, streamBody(pace, name), name, translatedConnections, plan.streamMs),
    )
    const cpu = figures('cpuUs')
    for (const wire of translated) {
      rows.push({
        what: `CPU per streamed chunk through ${wire}, ${how}`,
        connections: translatedConnections,
        unit: 'µs',
        compare: 'translation',
        gateway: cpu[wire] ?? [],
        passThrough: cpu['chat-completions'] ?? [],
        goal: { final: 2 },
      })
    }
  }
  return rows
}

const perSecond = 500

/** `syncMs`: what the disk takes to make an append durable, which no commit can beat. */
export const measureLatency = async (
  targets: readonly Target[],
  plan: Plan,
  syncMs: { p50: number; p99: number },
): Promise<Row[]> => {
  progress(`latency at ${perSecond} requests/s`)
  const figures = await inTurns(targets, plan.rounds, async target => {
    const options = { perSecond, durationMs: plan.latencyMs }
    const { latenciesMs } = finished(
      target,
      'json',
      await openLoop(load(target, jsonBody(150), 'json'), options),
    )
    return { p50: median(latenciesMs), p99: quantile(latenciesMs, 0.99) }
  })
  const rows = (['p50', 'p99'] as const).flatMap((part): Row[] => {
    const of = figures(part)
    const beyond = (of.gateway ?? []).map(
      (ms, round) => ms - (of.direct?.[round] ?? 0) - syncMs[part],
    )
    const final = part === 'p50' ? 0.5 : 2
    return [
      { what: `latency at ${perSecond}/s, ${part}`, unit: 'ms', compare: 'added', ...of },
      {
        what: `… added beyond one fdatasync, ${part}`,
        unit: 'ms',
        gateway: beyond,
        goal: { final },
      },
    ]
  })
  return rows
}

export const measureFirstEvent = async (targets: readonly Target[], plan: Plan): Promise<Row[]> => {
  progress('time to the first event of an upstream that takes 100 ms')
  const body = streamBody({ delayMs: 100, gapMs: 1 })
  const figures = await inTurns(targets, plan.rounds, target =>
    closed(target, body, 'chat-completions', 4, plan.firstEventMs),
  )
  const what = 'time to first event, upstream 100 ms, p50'
  return [{ what, unit: 'ms', compare: 'added', ...figures('firstEventMs'), goal: { final: 0.5 } }]
}

/** For servers that have just started: growth from idle to the peak, with so many streams open at once. */
export const measureMemory = async (targets: readonly Target[], plan: Plan): Promise<Row[]> => {
  const streams = plan.memoryStreams
  progress(`memory with ${streams} open streams`)
  const figures = await inTurns(targets, 1, async target => {
    const idle = rssBytes(target.server)
    const connections = await openConnections(target.server.port, streams)
    const streaming = load(target, streamBody(paceOf(streams)), 'chat-completions')
    finished(
      target,
      'chat-completions',
      await closedLoop(streaming, connections, 2 * plan.streamMs),
    )
    const peak = peakRssBytes(target.server)
    for (const connection of connections) connection.close()
    return { idle: idle / 2 ** 20, peak: peak / 2 ** 20, each: (peak - idle) / streams / 1024 }
  })
  const row = { connections: streams, compare: 'ratio' } as const
  return [
    { what: 'RSS, idle', unit: 'MiB', compare: 'ratio', ...figures('idle') },
    { what: 'RSS, peak', unit: 'MiB', ...row, ...figures('peak') },
    {
      what: 'memory per open stream',
      unit: 'KiB',
      ...row,
      ...figures('each'),
      goal: { final: 1.5 },
    },
  ]
}
