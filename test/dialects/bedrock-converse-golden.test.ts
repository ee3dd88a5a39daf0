/** Translations that two other gateways made, held against ours. Every difference is listed here with its reason. */
import { expect, test } from 'vitest'
import { bedrockConverse as dialect } from '../../src/dialects/bedrock-converse.ts'
import { GatewayError } from '../../src/errors.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { promptTokens } from '../../src/wire/usage.ts'
import { describeRecorded, readJson } from '../recordings.ts'
import { frameOf } from './bedrock-converse-hub.ts'
import { agentgatewayGoldens, differences, type Golden, linguaGoldens } from './golden.ts'
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
  validatorOf,
} from './proof.ts'

const refused = 'It would change the answer and can not be had, so the client is told.'
const ownSystem = 'Instructions have a place of their own; theirs become words of the user.'
const schemaKept = 'The answer is held to the schema; they leave it out.'
const choiceKept = 'The choice is kept; they leave it out.'
const strictKept = 'Strict tools are strict here too.'
const share = 'Effort is a share of the maximum, as OpenRouter has it; theirs is a fixed figure.'
const room = 'A budget of reasoning is a part of a maximum, so that is said.'
const noDefault = 'A maximum is optional here; theirs is a default of their own.'
const dummy = 'A tool that tells there is none; each has its own name for it.'
const urls = 'Media come as bytes: the gateway fetches them before it renders.'

const budget = [
  ['additionalModelRequestFields.thinking.budget_tokens', share],
  ['inferenceConfig', room],
] as const
const schema = [['outputConfig: undefined', schemaKept]] as const
const system = [
  ['messages', ownSystem],
  ['system', ownSystem],
] as const
const noTools = [
  ['inferenceConfig', noDefault],
  ['toolConfig.tools[0].toolSpec.inputSchema.json.properties', dummy],
  ['toolConfig.tools[0].toolSpec.name', dummy],
  ['toolConfig.tools[0].toolSpec.description', dummy],
] as const

/** By case: how the difference starts, and why it is there. */
const known: Record<string, readonly (readonly [starts: string, reason: string])[]> = {
  'lingua chatCompletionsAnthropicCacheControlParam': [
    ['messages[0].content', 'Marks of the prompt cache are kept; they leave them out.'],
  ],
  'lingua chatCompletionsSystemCacheControlParam': system,
  'lingua functionToolsWithReasoningEffortParam': [
    ...budget,
    ['toolConfig.tools[0].toolSpec.strict', strictKept],
  ],
  'lingua imageUrlMimeTypeFallbackParam': [['refused: messages[0].content[1]', urls]],
  'lingua multimodalRequest': [['refused: messages[0].content[1]', urls]],
  'lingua instructionsParam': system,
  'lingua systemMessageArrayContent': system,
  'lingua jsonSchemaFormatParam': schema,
  'lingua jsonSchemaMinMaxItemsParam': schema,
  'lingua jsonSchemaPrefixItemsParam': schema,
  'lingua textFormatJsonSchemaMissingRequiredPropertyParam': schema,
  'lingua textFormatJsonSchemaNullableUnionTypeGpt54NanoParam': schema,
  'lingua textFormatJsonSchemaWithDescriptionParam': schema,
  'lingua textFormatJsonObjectParam': [
    ['toolConfig: undefined', 'Claude is made to write JSON by a tool; they leave it to chance.'],
  ],
  'lingua logitBiasParam': [['refused: logit_bias', refused]],
  'lingua logprobsParam': [['refused: logprobs', refused]],
  'lingua metadataParam': [
    ['requestMetadata', 'Metadata go to the operator’s own log of requests.'],
  ],
  'lingua parallelToolCallsDisabledParam': [
    ['toolConfig.tools[0].toolSpec.strict', strictKept],
    ['additionalModelRequestFields', 'One call at a time is asked for; they leave it out.'],
  ],
  'lingua reasoningEffortMinimalParam': budget,
  'lingua reasoningSummaryParam': budget,
  'lingua simpleRequest': budget,
  'lingua toolCallRequest': [['toolConfig.toolChoice', choiceKept]],
  'lingua toolChoiceRequiredParam': [
    ['toolConfig.tools[0].toolSpec.strict', strictKept],
    ['toolConfig.toolChoice', choiceKept],
  ],
  'agentgateway basic': [['inferenceConfig', noDefault]],
  'agentgateway full': [['refused: n', `${refused} (functions and logit_bias would be, too.)`]],
  'agentgateway parallel-tool-call': noTools,
  'agentgateway tool-call': noTools,
  'agentgateway reasoning': budget,
  'agentgateway reasoning_replay': [
    ['inferenceConfig', noDefault],
    [
      'messages[1].content',
      'Signatures come back in `reasoning_details`; theirs is a field of their own.',
    ],
  ],
  'agentgateway reasoning_replay_unsigned': [['inferenceConfig', noDefault]],
}

const requestSchema = validatorOf('bedrock-converse.schema.json', 'ConverseRequest')

/** Our request, or why there is none. */
const render = ({ name, input, request }: Golden): Json | string => {
  const chat = ChatRequestSchema.parse(input)
  // The other's requests name no model, and ask for reasoning as an older Claude takes it.
  const upstreamModel = name.startsWith('lingua')
    ? String(request.modelId)
    : 'us.anthropic.claude-3-7-sonnet-20250219-v1:0'
  try {
    const { body } = dialect.renderRequest(chat, { upstreamModel, maxOutputTokens: null })
    return JSON.parse(body) as Json
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return `refused: ${thrown.param ?? ''}`
  }
}

/** What the SDKs write that the wire does not carry. */
const withoutNulls = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, one: unknown) =>
      key === 'modelId' || one === null ? undefined : one,
    ),
  )

const compare = (golden: Golden): string[] => {
  const ours = render(golden)
  if (typeof ours === 'string') return [ours]
  expect(complaints(requestSchema, ours)).toEqual([])
  return differences(withoutNulls(golden.request), ours)
}

describeRecorded('golden translations to Converse', () => {
  const goldens = [...linguaGoldens('bedrock'), ...agentgatewayGoldens('bedrock')]
  test.each(goldens.map(golden => [golden.name, golden] as const))('%s', (name, golden) => {
    const reasons = known[name] ?? []
    const found = compare(golden)
    const unlisted = found.filter(one => !reasons.some(([starts]) => one.startsWith(starts)))
    expect(unlisted).toEqual([])
    const stale = reasons.filter(([starts]) => !found.some(one => one.startsWith(starts)))
    expect(stale).toEqual([])
  })
})

type Pair = {
  case: string
  recorded_provider_response: Json
  golden_source_response: Json
}
type Streamed = { case: string; recorded_provider_events: Json[]; golden_source_sse: string }

const said = (message: unknown): unknown => ({
  // Theirs has lost blanks at the ends of lines.
  content: String(field(message, 'content') ?? '').replace(/ +\n/g, '\n') || null,
  calls: ((field(message, 'tool_calls') as Json[] | undefined) ?? []).map(call => [
    call.id,
    field(call, 'function', 'name'),
    JSON.parse(String(field(call, 'function', 'arguments'))) as unknown,
  ]),
})

describeRecorded('golden answers of Converse', () => {
  const pairs = (readJson('lingua/golden/chat-completions_to_bedrock.json') as Pair[]).filter(
    one => one.recorded_provider_response.output && one.golden_source_response.choices,
  )
  test.each(pairs.map(one => [one.case, one] as const))('%s', (_, one) => {
    const { answer, usage } = dialect.parseResponse(JSON.stringify(one.recorded_provider_response))
    expect(answerComplaints(answer)).toEqual([])
    const golden = one.golden_source_response
    const [choice] = golden.choices as Json[]
    expect(said(answer.choices[0]?.message)).toEqual(said(choice?.message))
    expect(answer.choices[0]?.finish_reason).toBe(choice?.finish_reason)
    const reported = one.recorded_provider_response.usage
    expect(usage && promptTokens(usage) + (usage.tokens.output ?? 0)).toBe(
      field(reported, 'totalTokens'),
    )
  })

  const streams = readJson('lingua/golden/streaming_chat-completions_to_bedrock.json') as Streamed[]
  test.each(streams.map(one => [one.case, one] as const))('streamed %s', (_, one) => {
    const bytes = Buffer.concat(one.recorded_provider_events.map(event => frameOf(event)))
    const outcome = run(dialect, [bytes])
    expect(outcome.ending).toBe('done')
    const chunks = chunksOf(outcome)
    for (const chunk of chunks) expect(chunkComplaints(chunk)).toEqual([])
    const theirs = [...one.golden_source_sse.matchAll(/^data: (\{.*)$/gm)].map(
      ([, json = '']) => JSON.parse(json) as Parameters<typeof gather>[0][number],
    )
    const [ours, golden] = [gather(chunks), gather(theirs)]
    expect(said(ours)).toEqual(said(golden))
    const reported = one.recorded_provider_events.map(event => field(event, 'metadata', 'usage'))
    const usage = outcome.events.findLast(event => event.usage)?.usage
    expect(usage && promptTokens(usage) + (usage.tokens.output ?? 0)).toBe(
      field(reported.find(Boolean), 'totalTokens'),
    )
    expectSameWhenRecut(dialect, bytes, outcome)
  })

  type Framed = { case: string; input: Json; golden: Json; stream_base64?: Record<string, string> }
  const { cases } = readJson('agentgateway/golden/response_bedrock.json') as { cases: Framed[] }
  const whole = cases.filter(one => one.golden['bedrock-completions'])
  test.each(whole.map(one => [one.case, one] as const))('agentgateway %s', (_, one) => {
    const { answer } = dialect.parseResponse(JSON.stringify(one.input))
    const [choice] = field(one.golden['bedrock-completions'], 'response', 'choices') as Json[]
    expect(said(answer.choices[0]?.message)).toEqual(said(choice?.message))
    expect(answer.choices[0]?.finish_reason).toBe(choice?.finish_reason)
    expect(answer.choices[0]?.message.reasoning).toBe(field(choice, 'message', 'reasoning_content'))
  })

  const framed = cases.flatMap(one =>
    Object.entries(one.stream_base64 ?? {}).map(([file, base64]) => [file, one, base64] as const),
  )
  test.each(framed)('agentgateway streamed %s', (_, one, base64) => {
    const bytes = Buffer.from(base64, 'base64')
    const outcome = run(dialect, [bytes])
    expect(outcome.ending).toBe('done')
    const golden = String(one.golden['bedrock-completions-streaming'])
    const theirs = [...golden.matchAll(/^data: (\{.*)$/gm)].map(
      ([, json = '']) => JSON.parse(json) as Parameters<typeof gather>[0][number],
    )
    expect(said(gather(chunksOf(outcome)))).toEqual(said(gather(theirs)))
    expectSameWhenRecut(dialect, bytes, outcome)
  })
})
