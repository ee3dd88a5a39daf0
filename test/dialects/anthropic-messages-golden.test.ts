/** Translations that two other gateways made, held against ours. Every difference is listed here with its reason. */
import { describe, expect, test } from 'vitest'
import { anthropicMessages as dialect } from '../../src/dialects/anthropic-messages.ts'
import { GatewayError } from '../../src/errors.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { promptTokens } from '../../src/wire/usage.ts'
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

const mergedResults =
  'All results of a turn stand in one user message, as the documentation asks; the API merges theirs.'
const noteOfSchema =
  'What the decoder can not hold the model to is told in the description, as Anthropic’s own SDKs do it.'
const refused = 'It would change the answer and can not be had, so the client is told.'

/** By case: how the difference starts, and why it is there. */
const known: Record<string, readonly (readonly [starts: string, reason: string])[]> = {
  'lingua jsonSchemaMinMaxItemsParam': [
    ['output_config.format.schema.properties.tags.description', noteOfSchema],
  ],
  'lingua jsonSchemaPrefixItemsParam': [
    ['output_config.format.schema.properties.tuple.description', noteOfSchema],
  ],
  'lingua textFormatJsonSchemaWithDescriptionParam': [
    ['output_config.format.schema.description', 'The description of the format is kept.'],
  ],
  'lingua logitBiasParam': [['refused: logit_bias', refused]],
  'lingua logprobsParam': [['refused: logprobs', refused]],
  'agentgateway full': [['refused: n', `${refused} (logit_bias and functions would be, too.)`]],
  'lingua opus47AdaptiveThinkingReasoningEffortParam': [
    ['thinking.display', 'From 4.7 on the reasoning stays unseen unless asked for.'],
  ],
  'lingua parallelToolCallsRequest': [['messages', mergedResults]],
  'agentgateway tool-call': [['messages', mergedResults]],
  'lingua reasoningSummaryParam': [
    ['thinking', 'Without it, this model takes the effort and does not reason.'],
  ],
  'agentgateway reasoning_max': [
    ['thinking.budget_tokens', 'This generation takes an effort instead of a budget.'],
    ['thinking.type', 'This generation takes an effort instead of a budget.'],
    ['output_config', 'This generation takes an effort instead of a budget.'],
  ],
  'lingua serviceTierParam': [
    ['service_tier', 'Only the default tier is sold; left out, it is the default.'],
  ],
  'lingua textFormatJsonObjectParam': [
    ['tool_choice.name', 'A name that no client’s tool has, since its calls become text.'],
    ['tools[0].name', 'A name that no client’s tool has, since its calls become text.'],
    ['tools[0].description', 'Our words.'],
  ],
}

const blocks = (content: unknown): unknown =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/** A text and a list of one text block say the same. */
const spelledOut = (request: Json): Json => ({
  ...request,
  ...(request.system === undefined ? {} : { system: blocks(request.system) }),
  messages: (request.messages as Json[]).map(({ role, content }) => ({
    role,
    content: (blocks(content) as Json[]).map(block =>
      block.type === 'tool_result' ? { ...block, content: blocks(block.content) } : block,
    ),
  })),
})

const requestSchema = validatorOf('anthropic-messages.schema.json', 'CreateMessageParams')

/** Where ours differs from theirs, at the output cap that they chose. */
const compare = ({ input, request }: Golden): string[] => {
  const chat = ChatRequestSchema.parse(input)
  const target = {
    upstreamModel: String(request.model),
    maxOutputTokens: Number(request.max_tokens),
  }
  try {
    const ours = JSON.parse(dialect.renderRequest(chat, target).body) as Json
    expect(complaints(requestSchema, ours)).toEqual([])
    return differences(spelledOut(request), spelledOut(ours))
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return [`refused: ${thrown.param}`]
  }
}

type Answered = { case: string; recorded_provider_response: Json; golden_source_response: Json }
type Streamed = { case: string; recorded_provider_events: Json[]; golden_source_sse: string }

type Translated = { case: string; input: unknown; golden: Json }

const agentgatewayAnswers = (): Translated[] =>
  (readJson('agentgateway/golden/response_anthropic.json') as { cases: Translated[] }).cases

const messageOf = (chat: unknown): Json => field(chat, 'choices', '0', 'message') as Json

const callsOf = (message: Json): unknown =>
  ((message.tool_calls as Json[] | undefined) ?? []).map(({ id, function: called }) => ({
    id,
    name: field(called, 'name'),
    input: JSON.parse(String(field(called, 'arguments') || '{}')),
  }))

describeRecorded('golden translations to Anthropic', () => {
  const goldens = [...linguaGoldens('anthropic'), ...agentgatewayGoldens('anthropic')]

  describe('requests agree in meaning', () => {
    test.each(goldens.map(one => [one.name, one] as const))('%s', (name, golden) => {
      const found = compare(golden)
      const listed = (known[name] ?? []).map(([starts]) => starts)
      expect(found.filter(one => !listed.some(starts => one.startsWith(starts)))).toEqual([])
      expect(listed.filter(starts => !found.some(one => one.startsWith(starts)))).toEqual([])
    })

    test('nothing is listed that no case has', () => {
      const names = goldens.map(({ name }) => name)
      expect(Object.keys(known).filter(name => !names.includes(name))).toEqual([])
    })
  })

  describe('answers agree in meaning', () => {
    const all = readJson('lingua/golden/chat-completions_to_anthropic.json') as Answered[]
    test.each(all.map(one => [one.case, one] as const))('lingua %s', (name, one) => {
      const { answer, usage } = dialect.parseResponse(
        JSON.stringify(one.recorded_provider_response),
      )
      expect(answerComplaints(answer)).toEqual([])
      const ours = messageOf(answer)
      const theirs = messageOf(one.golden_source_response)
      expect(usage && promptTokens(usage)).toBe(
        field(one.golden_source_response, 'usage', 'prompt_tokens'),
      )
      expect(usage?.tokens.output).toBe(
        field(one.golden_source_response, 'usage', 'completion_tokens'),
      )
      // Theirs has made a text of a call of the tool `json`; we do it for a tool of our own name only.
      if (name === 'textFormatJsonObjectParam') return
      expect(ours.content ?? '').toBe(theirs.content ?? '')
      expect(ours.reasoning ?? '').toBe(theirs.reasoning ?? '')
      expect(callsOf(ours)).toEqual(callsOf(theirs))
      expect(answer.choices[0]?.finish_reason).toBe(
        field(one.golden_source_response, 'choices', '0', 'finish_reason'),
      )
    })

    const whole = agentgatewayAnswers().filter(({ golden }) => golden['messages-completions'])
    test.each(whole.map(one => [one.case, one] as const))('agentgateway %s', (_, one) => {
      const { answer } = dialect.parseResponse(JSON.stringify(one.input))
      const theirs = messageOf(field(one.golden, 'messages-completions', 'response'))
      expect(messageOf(answer).content).toBe(theirs.content)
      expect(messageOf(answer).reasoning).toBe(theirs.reasoning_content)
      expect(callsOf(messageOf(answer))).toEqual(callsOf(theirs))
    })
  })

  describe('streams agree in meaning', () => {
    const theirsOf = (sse: string): Json[] =>
      [...sse.matchAll(/^data: (\{.*)$/gm)].flatMap(
        match => (JSON.parse(match[1] ?? '') as { choices: Json[] }).choices,
      )
    const textOf = (choices: readonly Json[], name: string): string =>
      choices
        .map(choice => field(choice, 'delta', name) ?? '')
        .map(text => (typeof text === 'string' ? text : field(text, '0', 'content')))
        .join('')

    const check = (wire: string, golden: string): void => {
      const bytes = Buffer.from(wire)
      const outcome = run(dialect, [bytes])
      expect(outcome.ending).toBe('done')
      for (const chunk of chunksOf(outcome)) expect(chunkComplaints(chunk)).toEqual([])
      const ours = gather(chunksOf(outcome))
      const theirs = theirsOf(golden)
      expect(ours.content).toBe(textOf(theirs, 'content'))
      const reasoning = textOf(theirs, 'reasoning') + textOf(theirs, 'reasoning_content')
      expect(ours.reasoning ?? '').toBe(reasoning)
      const finished = theirs.map(choice => choice.finish_reason).findLast(Boolean)
      expect(chunksOf(outcome).at(-1)?.choices[0]?.finish_reason).toBe(finished)
      expectSameWhenRecut(dialect, bytes, outcome)
    }

    const lingua = readJson(
      'lingua/golden/streaming_chat-completions_to_anthropic.json',
    ) as Streamed[]
    test.each(lingua.map(one => [one.case, one] as const))('lingua %s', (_, one) => {
      const wire = one.recorded_provider_events.map(
        event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      check(wire.join(''), one.golden_source_sse)
    })

    const cases = agentgatewayAnswers().filter(
      ({ golden }) => golden['messages-completions-streaming'],
    )
    test.each(cases.map(one => [one.case, one] as const))('agentgateway %s', (_, one) => {
      check(String(one.input), String(one.golden['messages-completions-streaming']))
    })
  })
})
