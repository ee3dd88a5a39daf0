/** Translations that two other gateways made, held against ours. Every difference is listed here with its reason. */
import { describe, expect, test } from 'vitest'
import { gemini as dialect } from '../../src/dialects/gemini.ts'
import { GatewayError } from '../../src/errors.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { completionTokens, promptTokens } from '../../src/wire/usage.ts'
import { describeRecorded, readJson } from '../recordings.ts'
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
const callIds =
  'Calls and results keep their ids, as the API has them since Gemini 3; recorded traffic shows that it takes them.'
const nameOfSchema = 'The name of a format is for the client; its description is told to the model.'
const jsonSchema =
  'The API takes JSON schema whole; theirs is the older subset, with references resolved.'
const results = 'A result that is a JSON object stays one, as the API describes it.'

/** By case: how the difference starts (`*`: anything), and why it is there. */
const known: Record<string, readonly (readonly [starts: string, reason: string])[]> = {
  'lingua googleToolCallThoughtSignatureReplayParam': [
    ['contents[*].parts[*].functionCall.id', callIds],
    ['contents[*].parts[*].functionResponse.id', callIds],
    [
      'contents[1].parts[0].thoughtSignature',
      'Their `reasoning_signature` does not say whose it is; ours come back in `reasoning_details` or `extra_content`.',
    ],
  ],
  'lingua jsonSchemaFormatParam': [['generationConfig.responseJsonSchema.title', nameOfSchema]],
  'lingua jsonSchemaMinMaxItemsParam': [
    ['generationConfig.responseJsonSchema.title', nameOfSchema],
  ],
  'lingua jsonSchemaPrefixItemsParam': [
    ['generationConfig.responseJsonSchema.title', nameOfSchema],
  ],
  'lingua textFormatJsonSchemaMissingRequiredPropertyParam': [
    ['generationConfig.responseJsonSchema.title', nameOfSchema],
  ],
  'lingua textFormatJsonSchemaNullableUnionTypeGpt54NanoParam': [
    ['generationConfig.responseJsonSchema.title', nameOfSchema],
  ],
  'lingua textFormatJsonSchemaWithDescriptionParam': [
    ['generationConfig.responseJsonSchema.title', nameOfSchema],
  ],
  'lingua logitBiasParam': [['refused: logit_bias', refused]],
  'lingua logprobsParam': [['generationConfig', 'Asked for; a model without them says so.']],
  'lingua parallelToolCallsRequest': [
    ['contents[*].parts[*].functionCall.id', callIds],
    ['contents[*].parts[*].functionResponse.id', callIds],
  ],
  'lingua reasoningEffortNoneParam': [
    [
      'generationConfig.thinkingConfig',
      'The least that this model can reason, and no thoughts; theirs is the default, which reasons.',
    ],
  ],
  'lingua textFormatTextParam': [['generationConfig', 'Text is the default.']],
  'agentgateway generation-config': [
    ['generationConfig.frequencyPenalty', 'Models from 2.5 on refuse it; a wish about words.'],
    ['generationConfig.presencePenalty', 'Models from 2.5 on refuse it; a wish about words.'],
    ['tools[0].functionDeclarations[0].parameters', jsonSchema],
  ],
  'agentgateway multi-turn-tools': [
    ['contents[*].parts[*].functionCall.id', callIds],
    ['contents[*].parts[*].functionResponse.id', callIds],
    ['contents[*].parts[*].functionResponse.response', results],
    ['tools[0].functionDeclarations[0].parameters', jsonSchema],
  ],
  'agentgateway parallel-tool-call': [
    ['contents[*].parts[*].functionCall.id', callIds],
    ['contents[*].parts[*].functionResponse.id', callIds],
    ['contents[*].parts[*].functionResponse.response', results],
  ],
  'agentgateway tool-call': [
    ['contents[*].parts[*].functionCall.id', callIds],
    ['contents[*].parts[*].functionResponse.id', callIds],
    ['contents[*].parts[*].functionResponse.response', results],
  ],
  'agentgateway reasoning': [
    ['generationConfig.thinkingConfig.thinkingBudget', 'As Google itself translates the effort.'],
  ],
  'agentgateway reasoning_max': [
    [
      'generationConfig.thinkingConfig.thinkingBudget',
      'The most that the model can, not a third of it.',
    ],
  ],
  'agentgateway structured-output': [['generationConfig.response', jsonSchema]],
}

const startsWith = (found: string, starts: string): boolean =>
  found.replace(/\[\d+\]/g, '[*]').startsWith(starts) || found.startsWith(starts)

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

/** Fields without a value say nothing; the model stands in the path. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null)
      .map(([key, one]) => [key, withoutNulls(one)]),
  )
}

const plain = ({ model: _, ...request }: Json): unknown => {
  const { generationConfig, ...rest } = withoutNulls(request) as Json
  return Object.keys(generationConfig ?? {}).length === 0 ? rest : { ...rest, generationConfig }
}

type Answered = { case: string; recorded_provider_response: Json; golden_source_response: Json }
type Streamed = { case: string; recorded_provider_events: Json[]; golden_source_sse: string }

const squeezed = (text: unknown): string =>
  String(text ?? '')
    .replace(/\s+/g, ' ')
    .trim()

const called = (message: Json): unknown =>
  list(message.tool_calls).map(call => ({
    name: field(call, 'function', 'name'),
    input: JSON.parse(String(field(call, 'function', 'arguments') || '{}')),
  }))

/** Their texts lack white space at line ends. */
const expectSameMessage = (ours: Json, theirs: Json): void => {
  expect(squeezed(ours.content)).toBe(squeezed(theirs.content))
  expect(squeezed(ours.reasoning)).toBe(squeezed(theirs.reasoning ?? theirs.reasoning_content))
  expect(called(ours)).toEqual(called(theirs))
  const [signed] = list(ours.reasoning_details).filter(({ data }) => data)
  if (theirs.reasoning_signature) expect(signed?.data).toBe(theirs.reasoning_signature)
}

const requestSchema = validatorOf('gemini-generate.schema.json', 'GenerateContentRequest')

const compare = ({ input, request }: Golden): string[] => {
  const chat = ChatRequestSchema.parse(input)
  const asked = String(request.model ?? chat.model)
  const upstreamModel = asked.startsWith('gemini') ? asked : 'gemini-2.5-flash'
  try {
    const { path, body } = dialect.renderRequest(chat, { upstreamModel, maxOutputTokens: null })
    expect(path).toContain(`/models/${upstreamModel}:`)
    const ours = JSON.parse(body) as Json
    expect(complaints(requestSchema, ours)).toEqual([])
    return differences(plain(request), plain(ours))
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return [`refused: ${thrown.param}`]
  }
}

describeRecorded('golden translations to Gemini', () => {
  const goldens = [...linguaGoldens('google'), ...agentgatewayGoldens('vertex-gemini')]

  describe('requests agree in meaning', () => {
    test.each(goldens.map(one => [one.name, one] as const))('%s', (name, golden) => {
      const found = compare(golden)
      const listed = (known[name] ?? []).map(([starts]) => starts)
      expect(found.filter(one => !listed.some(starts => startsWith(one, starts)))).toEqual([])
      expect(listed.filter(starts => !found.some(one => startsWith(one, starts)))).toEqual([])
    })
  })

  test('nothing is listed that no case has', () => {
    const names = goldens.map(({ name }) => name)
    expect(Object.keys(known).filter(name => !names.includes(name))).toEqual([])
  })

  describe('answers agree in meaning', () => {
    const lingua = (readJson('lingua/golden/chat-completions_to_google.json') as Answered[])
      .filter(one => one.recorded_provider_response.candidates)
      .map(
        one =>
          [
            `lingua ${one.case}`,
            one.recorded_provider_response,
            one.golden_source_response,
          ] as const,
      )
    const { cases } = readJson('agentgateway/golden/response_vertex-gemini.json') as {
      cases: { case: string; input: Json | string; golden: Json }[]
    }
    const agentgateway = cases
      .filter(({ input }) => typeof input === 'object')
      .map(one => {
        const theirs = field(one.golden, 'vertex-gemini-completions', 'response')
        return [`agentgateway ${one.case}`, one.input as Json, theirs as Json] as const
      })

    test.each([...lingua, ...agentgateway])('%s', (_, response, theirs) => {
      const { answer, usage } = dialect.parseResponse(JSON.stringify(response))
      expect(answerComplaints(answer)).toEqual([])
      const [choice] = answer.choices
      const total = field(response, 'usageMetadata', 'totalTokenCount')
      expect(usage ? promptTokens(usage) + completionTokens(usage) : undefined).toBe(total)
      // Their reader of JSON fails at line breaks inside a text.
      if (theirs.__unparsed__) return
      expect(choice?.finish_reason).toBe(field(theirs, 'choices', '0', 'finish_reason'))
      expectSameMessage({ ...choice?.message }, field(theirs, 'choices', '0', 'message') as Json)
    })
  })

  describe('streams agree in meaning', () => {
    const lingua = (
      readJson('lingua/golden/streaming_chat-completions_to_google.json') as Streamed[]
    ).map(
      one => [`lingua ${one.case}`, one.recorded_provider_events, one.golden_source_sse] as const,
    )
    test.each(lingua)('%s', (name, events, theirs) => {
      const bytes = Buffer.from(
        events.map(event => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''),
      )
      const outcome = run(dialect, [bytes])
      // The recorder stopped early; theirs ends as if nothing were amiss.
      const isCut = name === 'lingua systemMessageArrayContent'
      expect(outcome.ending).toMatch(isCut ? /^provider_invalid_response/ : /^done$/)
      for (const chunk of chunksOf(outcome)) expect(chunkComplaints(chunk)).toEqual([])
      expectSameWhenRecut(dialect, bytes, outcome)
      const message = gather(chunksOf(outcome))
      const their = [...theirs.matchAll(/^data: (\{.*)$/gm)].map(
        one => JSON.parse(one[1] ?? '') as Json,
      )
      const deltas = their.map(event => field(event, 'choices', '0', 'delta'))
      const said = deltas.map(delta => String(field(delta, 'content') ?? '')).join('')
      // Theirs drops white space at the ends of pieces.
      expect(squeezed(message.content)).toBe(squeezed(said))
      const called = deltas.flatMap(delta => list(field(delta, 'tool_calls')))
      expect(list(message.tool_calls).map(call => field(call, 'function'))).toEqual(
        called.map(call => field(call, 'function')),
      )
    })
  })
})
