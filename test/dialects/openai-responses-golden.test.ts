/** Translations that two other gateways made, held against ours. Every difference is listed here with its reason. */
import { describe, expect, test } from 'vitest'
import { openAiResponses as dialect } from '../../src/dialects/openai-responses.ts'
import { GatewayError } from '../../src/errors.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { completionTokens, promptTokens } from '../../src/wire/usage.ts'
import { describeRecorded, readJson } from '../recordings.ts'
import { differences, type Golden, linguaGoldens } from './golden.ts'
import { essences, list } from './openai-responses-chat.ts'
import { responsesRequestComplaints } from './openai-responses-schema.ts'
import {
  answerComplaints,
  chunkComplaints,
  chunksOf,
  expectSameWhenRecut,
  field,
  gather,
  type Json,
  run,
} from './proof.ts'

const refused = 'It would change the answer and can not be had, so the client is told.'
const keepsNothing = 'The gateway has nothing stored at a provider.'

/** By case: how the difference starts, and why it is there. */
const known: Record<string, readonly (readonly [starts: string, reason: string])[]> = {
  logitBiasParam: [['refused: logit_bias', refused]],
  logprobsParam: [['include', 'Without it the answer has no logprobs.']],
  stopSequencesParam: [['refused: stop', refused]],
  simpleRequestTruncated: [
    ['refused: max_completion_tokens', 'A maximum that the client named is kept to the letter.'],
  ],
  metadataParam: [['store', keepsNothing]],
  serviceTierParam: [
    ['service_tier', 'Only the default tier is sold; left out, it is the default.'],
  ],
  textFormatJsonSchemaMissingRequiredPropertyParam: [
    [
      'text.format.schema.required',
      'A schema of the client’s is not rewritten; OpenAI says what a strict one lacks.',
    ],
  ],
  openAIMultipleReasoningSignaturesReplayParam: [
    [
      'input',
      'Encrypted reasoning comes as `reasoning_details`; `reasoning_signature` is another gateway’s own.',
    ],
  ],
}

/** Said in every request: nothing is stored, so the reasoning must come along; strict is off where the client left it. */
const always =
  /^(store: undefined → false|include: undefined → \["reasoning\.encrypted_content"\])$/

const plain = (request: Json): Json => ({
  ...request,
  input: essences(list(request.input)),
  ...(request.tools === undefined
    ? {}
    : { tools: list(request.tools).map(tool => ({ strict: false, ...tool })) }),
})

/** Where ours differs from theirs. */
const compare = ({ input, request }: Golden): string[] => {
  const chat = ChatRequestSchema.parse(input)
  const target = { upstreamModel: String(request.model), maxOutputTokens: null }
  try {
    const ours = JSON.parse(dialect.renderRequest(chat, target).body) as Json
    expect(responsesRequestComplaints(ours)).toEqual([])
    return differences(plain(request), plain(ours)).filter(one => !always.test(one))
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return [`refused: ${thrown.param}`]
  }
}

type Answered = { case: string; recorded_provider_response: Json; golden_source_response: Json }
type Streamed = { case: string; recorded_provider_events: Json[]; golden_source_sse: string }
type Translated = { case: string; input: unknown; golden: Json }

const messageOf = (chat: unknown): Json => field(chat, 'choices', '0', 'message') as Json

const callsOf = (message: Json): unknown =>
  list(message.tool_calls).map(({ id, function: called }) => ({
    id,
    name: field(called, 'name'),
    arguments: field(called, 'arguments'),
  }))

describeRecorded('golden translations to Responses', () => {
  const goldens = linguaGoldens('responses')

  describe('requests agree in meaning', () => {
    test.each(goldens.map(one => [one.name.replace('lingua ', ''), one] as const))(
      '%s',
      (name, golden) => {
        const found = compare(golden)
        const listed = (known[name] ?? []).map(([starts]) => starts)
        expect(found.filter(one => !listed.some(starts => one.startsWith(starts)))).toEqual([])
        expect(listed.filter(starts => !found.some(one => one.startsWith(starts)))).toEqual([])
      },
    )

    test('nothing is listed that no case has', () => {
      const names = goldens.map(({ name }) => name.replace('lingua ', ''))
      expect(Object.keys(known).filter(name => !names.includes(name))).toEqual([])
    })
  })

  describe('answers agree in meaning', () => {
    const all = readJson('lingua/golden/chat-completions_to_responses.json') as Answered[]
    const answered = all.filter(one => Array.isArray(one.recorded_provider_response.output))
    test.each(answered.map(one => [one.case, one] as const))('lingua %s', (_, one) => {
      const { answer, usage } = dialect.parseResponse(
        JSON.stringify(one.recorded_provider_response),
      )
      expect(answerComplaints(answer)).toEqual([])
      const theirs = one.golden_source_response
      expect(usage && promptTokens(usage)).toBe(field(theirs, 'usage', 'prompt_tokens'))
      expect(usage && completionTokens(usage)).toBe(field(theirs, 'usage', 'completion_tokens'))
      const ours = messageOf(answer)
      expect(ours.content ?? '').toBe(messageOf(theirs).content ?? '')
      expect(ours.reasoning ?? '').toBe(messageOf(theirs).reasoning ?? '')
      expect(callsOf(ours)).toEqual(callsOf(messageOf(theirs)))
      expect(answer.choices[0]?.finish_reason).toBe(field(theirs, 'choices', '0', 'finish_reason'))
    })
    test('are many', () => expect(answered.length).toBeGreaterThan(35))

    const { cases } = readJson('agentgateway/golden/response_responses.json') as {
      cases: Translated[]
    }
    const whole = cases.filter(({ input }) => typeof input === 'object')
    /** Theirs are Anthropic's, or only the same again; what each says is told here by hand. */
    const said: Record<string, Json> = {
      basic: { finish_reason: 'stop', native_finish_reason: 'completed' },
      reasoning: { finish_reason: 'stop' },
      tool: { finish_reason: 'tool_calls', message: { content: 'I will check that.' } },
      truncated_tool_call: {
        finish_reason: 'length',
        native_finish_reason: 'incomplete',
        message: { tool_calls: [{ function: { arguments: '{"location": "Par' } }] },
      },
      'custom-tool': {
        finish_reason: 'tool_calls',
        message: { tool_calls: [{ id: 'call_123', type: 'custom', custom: { name: 'exec' } }] },
      },
    }
    test.each(whole.map(one => [one.case, one] as const))('agentgateway %s', (name, one) => {
      const { answer } = dialect.parseResponse(JSON.stringify(one.input))
      expect(answerComplaints(answer)).toEqual([])
      expect(answer.choices[0]).toMatchObject(said[name] ?? { unlisted: true })
    })

    const streamed = cases.filter(({ input }) => typeof input === 'string')
    const gathered: Record<string, Json> = {
      'stream-refusal': { content: '', refusal: 'I cannot help with that.' },
    }
    test.each(streamed.map(one => [one.case, one] as const))('agentgateway %s', (name, one) => {
      const bytes = Buffer.from(String(one.input))
      const outcome = run(dialect, [bytes])
      expect(outcome.ending).toBe('done')
      expect(gather(chunksOf(outcome))).toMatchObject(gathered[name] ?? {})
      expectSameWhenRecut(dialect, bytes, outcome)
    })
  })

  describe('streams agree in meaning', () => {
    const theirsOf = (sse: string): Json[] =>
      [...sse.matchAll(/^data: (\{.*)$/gm)].flatMap(
        match => (JSON.parse(match[1] ?? '') as { choices: Json[] }).choices,
      )
    const lingua = readJson(
      'lingua/golden/streaming_chat-completions_to_responses.json',
    ) as Streamed[]
    test.each(lingua.map(one => [one.case, one] as const))('lingua %s', (_, one) => {
      const wire = one.recorded_provider_events.map(
        event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      const bytes = Buffer.from(wire.join(''))
      const outcome = run(dialect, [bytes])
      expect(outcome.ending).toBe('done')
      const chunks = chunksOf(outcome)
      for (const chunk of chunks) expect(chunkComplaints(chunk)).toEqual([])
      const theirs = theirsOf(one.golden_source_sse)
      const told = (name: string): string =>
        theirs.map(choice => String(field(choice, 'delta', name) ?? '')).join('')
      const ours = gather(chunks)
      expect(ours.content).toBe(told('content'))
      expect(ours.reasoning ?? '').toBe(told('reasoning'))
      const finished = theirs.map(choice => choice.finish_reason).findLast(Boolean)
      // Theirs says `stop` though tools were called; the answer told whole says `tool_calls` there, too.
      const wanted = one.case === 'toolCallRequest' ? 'tool_calls' : finished
      expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe(wanted)
      expectSameWhenRecut(dialect, bytes, outcome)
    })
  })
})
