/**
 * Everything recorded of Converse, through the dialect. Recordings of InvokeModel (all of fantasy's, two of pydantic-ai's)
 * are another wire: their bodies are Anthropic's own. Of them only the frames are read here.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { bedrockConverse as dialect } from '../../src/dialects/bedrock-converse.ts'
import { AwsEventStreamDecoder, type AwsFrame } from '../../src/wire/aws-event-stream.ts'
import { promptTokens, type Usage } from '../../src/wire/usage.ts'
import {
  bodyText,
  describeRecorded,
  type Interaction,
  interactions,
  looseAnswers,
  readJson,
} from '../recordings.ts'
import { type Converse, chatOf, frameOf } from './bedrock-converse-hub.ts'
import { differences } from './golden.ts'
import {
  answerComplaints,
  chunkComplaints,
  chunksOf,
  complaints,
  expectSameWhenRecut,
  field,
  gather,
  type Json,
  run,
  Tallies,
  validatorOf,
} from './proof.ts'

const tallies = new Tallies()
const requestSchema = validatorOf('bedrock-converse.schema.json', 'ConverseRequest')

const modelOf = (url: string): string =>
  decodeURIComponent(/\/model\/([^/]+)\/converse/.exec(url)?.[1] ?? '')

/** From the numbers alone: what the provider calls the total is all tokens of ours. */
const expectSameUsage = (source: string, reported: unknown, usage: Usage | null): void => {
  const number = (name: string): number => Number(field(reported, name) ?? 0)
  expect(usage).not.toBeNull()
  if (usage === null) return
  expect(promptTokens(usage)).toBe(
    number('inputTokens') + number('cacheReadInputTokens') + number('cacheWriteInputTokens'),
  )
  expect(promptTokens(usage) + (usage.tokens.output ?? 0)).toBe(number('totalTokens'))
  expect(usage.tokens.output).toBe(number('outputTokens'))
  expect(usage.tokens.cacheRead ?? 0).toBe(number('cacheReadInputTokens'))
  tallies.of(source).usage++
}

type Block = Record<string, Json>

const isClientTool = (block: Block): boolean =>
  block.toolUse !== undefined && block.toolUse.type !== 'server_tool_use'

const checkWhole = (source: string, body: string): void => {
  const { answer, usage } = dialect.parseResponse(body)
  expect(answerComplaints(answer)).toEqual([])
  const sent: unknown = JSON.parse(body)
  const blocks = field(sent, 'output', 'message', 'content') as Block[]
  const [choice] = answer.choices
  expect(choice?.native_finish_reason).toBe(field(sent, 'stopReason'))
  expect(choice?.finish_reason).not.toBe('error')
  const cited = blocks.flatMap(block => (block.citationsContent?.content as Json[]) ?? [])
  const said = blocks.map(block => block.text ?? '').join('') + cited.map(one => one.text).join('')
  expect(choice?.message.content ?? '').toHaveLength(said.length)
  const calls = blocks.filter(isClientTool)
  expect(
    choice?.message.tool_calls?.map(call => JSON.parse(call.function.arguments)) ?? [],
  ).toEqual(calls.map(block => block.toolUse?.input))
  const citations = blocks.flatMap(block => (block.citationsContent?.citations as Json[]) ?? [])
  const message = choice?.message
  const sources = [message?.annotations ?? [], message?.citations ?? []].flat()
  expect(sources).toHaveLength(citations.length)
  expectSameUsage(source, field(sent, 'usage'), usage)
  tallies.of(source).answers++
}

const framesOf = (bytes: Buffer): AwsFrame[] => {
  const decoder = new AwsEventStreamDecoder()
  const frames: AwsFrame[] = []
  decoder.push(bytes, frames)
  expect(decoder.isAmidFrame).toBe(false)
  return frames
}

type Event = Record<string, Json>

const eventsOf = (bytes: Buffer): Event[] =>
  framesOf(bytes).map(({ headers, payload }) => ({ [headers.name]: JSON.parse(payload) as Json }))

const deltaText = (events: readonly Event[], ...path: string[]): string =>
  events
    .map(event => field(event.contentBlockDelta, 'delta', ...path))
    .filter(one => typeof one === 'string')
    .join('')

/** Blocks of the provider's own tools, whose input is no call. */
const serverBlocks = (events: readonly Event[]): Set<unknown> =>
  new Set(
    events
      .filter(one => field(one.contentBlockStart, 'start', 'toolUse', 'type') === 'server_tool_use')
      .map(one => field(one.contentBlockStart, 'contentBlockIndex')),
  )

const checkStream = (source: string, bytes: Buffer): void => {
  const outcome = run(dialect, [bytes])
  expect(outcome.ending).toBe('done')
  const chunks = chunksOf(outcome)
  for (const chunk of chunks) expect(chunkComplaints(chunk)).toEqual([])
  expect(chunks.filter(chunk => chunk.choices[0]?.delta.role)).toHaveLength(1)
  const events = eventsOf(bytes)
  const message = gather(chunks)
  expect(message.content).toBe(deltaText(events, 'text'))
  expect(message.reasoning ?? '').toBe(deltaText(events, 'reasoningContent', 'text'))
  const server = serverBlocks(events)
  const own = events.filter(one => !server.has(field(one.contentBlockDelta, 'contentBlockIndex')))
  const input = message.tool_calls?.map(call => call.function.arguments).join('') ?? ''
  expect(input.replaceAll('{}', '')).toBe(deltaText(own, 'toolUse', 'input').replaceAll('{}', ''))
  for (const call of message.tool_calls ?? []) JSON.parse(call.function.arguments)
  const native = events.map(one => field(one.messageStop, 'stopReason')).find(Boolean)
  const last = chunks.flatMap(({ choices }) => choices).find(({ finish_reason }) => finish_reason)
  expect(last?.native_finish_reason).toBe(native)
  expect(last?.finish_reason).not.toBe('error')
  const reported = events.map(one => field(one.metadata, 'usage')).find(Boolean)
  const usage = outcome.events.findLast(event => event.usage)?.usage ?? null
  if (reported) expectSameUsage(source, reported, usage)
  expectSameWhenRecut(dialect, bytes, outcome)
  tallies.of(source).answers++
  tallies.of(source).cuts++
}

/** Why a recorded request has no like among chat completions. */
const notOurs: readonly (readonly [RegExp, string])[] = [
  [/"s3Location"/, 'media by address in S3'],
  [/"systemTool"/, 'a tool that the provider runs is not priced'],
  [/"searchResult"/, 'results of a search as blocks'],
  [/"source": ?\{"text"/, 'documents as text'],
]

/** Each difference between a recorded request and ours to the same effect: how it starts, and its reason. */
const sameToUs: readonly (readonly [RegExp, string])[] = [
  [/^system: \[\] → undefined$/, 'no system message, and no word about it'],
  [/^inferenceConfig: \{\} → undefined$/, 'nothing asked, and no word about it'],
  [/^toolConfig\.toolChoice: \{"auto":\{\}\} → undefined$/, 'auto is the default'],
  [/\.status: "success" → undefined$/, 'success is the default'],
  [/\.status: "error" → undefined$/, 'chat completions have no word for a tool that failed'],
  [/^additionalModelRequestFields\.(reasoning_config|thinking): /, 'an older name of `thinking`'],
  [/\.toolUse\.type: /, 'told by the provider, not needed by it'],
  [/document\.name: /, 'we name documents by their files'],
  [
    /^outputConfig\.textFormat\.structure\.jsonSchema\.schema: /,
    'Claude’s decoder wants it strict',
  ],
  [
    /^inferenceConfig(\.maxTokens: undefined|: \{\}) → (\{"maxTokens":)?\d+\}?$/,
    'a budget of reasoning is a part of a maximum',
  ],
]

const isReason = (difference: string): boolean =>
  sameToUs.some(([pattern]) => pattern.test(difference))

const checkRequest = (source: string, request: Interaction['request']): boolean => {
  const recorded = request.body.json as Converse
  if (notOurs.some(([pattern]) => pattern.test(JSON.stringify(recorded)))) return false
  const target = { upstreamModel: modelOf(request.url), maxOutputTokens: null }
  const { body, path } = dialect.renderRequest(chatOf(recorded), target)
  expect(path).toBe(`/model/${encodeURIComponent(target.upstreamModel)}/converse`)
  const rendered = JSON.parse(body) as Json
  expect(complaints(requestSchema, rendered)).toEqual([])
  expect(differences(recorded, rendered).filter(one => !isReason(one))).toEqual([])
  tallies.of(source).requests++
  return true
}

describeRecorded('recorded Converse', () => {
  const all = interactions(/\/model\/[^/]+\/converse/)
  const answers = all.filter(({ response }) => response.status < 300)
  const isStream = ({ response }: Interaction): boolean => response.body.base64 !== undefined
  const sourceOf = (file: string): string => file.slice(0, file.indexOf('/'))
  const bytesOf = ({ response }: Interaction): Buffer =>
    Buffer.from(response.body.base64 ?? '', 'base64')
  const named = (some: Interaction[]) => some.map((one, i) => [`${i} ${one.file}`, one] as const)
  for (const { file } of answers) tallies.of(sourceOf(file)).recordings++

  test.each(named(all))('request %s', (_, { file, request }) => {
    const isOurs = checkRequest(sourceOf(file), request)
    expect(isOurs || request.body.json !== undefined).toBe(true)
  })

  test.each(named(answers.filter(one => !isStream(one))))('answer %s', (_, one) => {
    checkWhole(sourceOf(one.file), bodyText(one.response.body))
  })

  test.each(named(answers.filter(isStream)))('stream %s', (_, one) => {
    checkStream(sourceOf(one.file), bytesOf(one))
  })

  const loose = (ending: string) =>
    looseAnswers(ending)
      .filter(({ provider }) => provider === 'amazon-bedrock')
      .map(one => [one.file, one.text] as const)
  test.each(loose('.json'))('answer %s', (_, text) => {
    tallies.of('vercel-ai').recordings++
    checkWhole('vercel-ai', text)
  })
  test.each(loose('.chunks.txt'))('stream %s', (_, text) => {
    tallies.of('vercel-ai').recordings++
    const lines = text.split('\n').filter(line => line.trim() !== '')
    checkStream('vercel-ai', Buffer.concat(lines.map(line => frameOf(JSON.parse(line) as Event))))
  })

  test('every frame, of InvokeModel too, passes its checks', () => {
    const streams = interactions(/\/model\/[^/]+\/(converse|invoke)/).filter(isStream)
    const frames = streams.flatMap(one => framesOf(bytesOf(one)))
    expect(frames.every(({ headers }) => headers.messageType === 'event')).toBe(true)
    console.log(`${streams.length} event streams, ${frames.length} frames`)
    expect(frames.length).toBeGreaterThan(500)
  })

  describe('an answer that the next request continues comes back unchanged', () => {
    const pairs = answers.flatMap((one, i) => {
      const next = answers[i + 1]
      return next?.file === one.file && !isStream(one) ? [[one.file, one, next] as const] : []
    })
    const lastAnswer = (request: Interaction['request']): Json[] =>
      ((request.body.json as Converse).messages.findLast(({ role }) => role === 'assistant')
        ?.content ?? []) as Json[]
    test.each(pairs)('%s', (_, one, next) => {
      const { answer } = dialect.parseResponse(bodyText(one.response.body))
      const message = answer.choices[0]?.message
      const chat = {
        model: 'bedrock/m',
        messages: [
          { role: 'user' as const, content: 'hi' },
          message ?? { role: 'assistant' as const },
        ],
      }
      const target = { upstreamModel: modelOf(next.request.url), maxOutputTokens: null }
      const { messages } = JSON.parse(dialect.renderRequest(chat, target).body) as Converse
      const sent = lastAnswer(next.request)
      const received = field(
        JSON.parse(bodyText(one.response.body)),
        'output',
        'message',
        'content',
      )
      if (sent.length !== (received as Json[]).length) return
      // Its recorder sends reasoning back as text in tags.
      if (target.upstreamModel.includes('moonshot')) return
      const trimmed = (blocks: unknown): string =>
        JSON.stringify(blocks).replaceAll(/\\n"|\s+"/g, '"')
      expect(JSON.parse(trimmed(messages[1]?.content))).toEqual(JSON.parse(trimmed(sent)))
    })
  })

  describe('errors', () => {
    type Recorded = {
      provider: string
      status: number
      response_headers: Record<string, string>
      response_body: { json: unknown }
    }
    const errors = (readJson('errors/http-errors.json') as Recorded[]).filter(
      ({ provider }) => provider === 'bedrock',
    )
    test('are of the catalogue', () => {
      const codes = errors.map(({ status, response_headers, response_body }) => {
        const body = JSON.stringify(response_body.json)
        const { code } = dialect.parseError(status, response_headers, body)
        return `${status} ${code}: ${String(field(response_body.json, 'message')).slice(0, 60)}`
      })
      expect(codes).toMatchInlineSnapshot(`
        [
          "400 model_not_found: The provided model identifier is invalid.",
          "400 invalid_request: This model doesn't support the video content block that you ",
          "400 invalid_request: The model returned the following errors: Malformed input req",
          "400 invalid_request: This model doesn't support the s3Uri field. Remove s3Uri and",
          "400 invalid_request: The model returned the following errors: messages.2.content.",
          "400 invalid_request: Invocation of model ID deepseek.r1-v1:0 with on-demand throu",
          "404 model_not_found: This model version has reached the end of its life. Please r",
          "403 provider_rejected_credentials: The security token included in the request is invalid.",
          "400 context_length_exceeded: The model returned the following errors: Input Tokens Exceed",
        ]
      `)
    })
  })

  afterAll(() => tallies.print())
})
