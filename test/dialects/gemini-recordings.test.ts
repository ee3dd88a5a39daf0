/** Everything recorded of Gemini at AI Studio and Vertex AI, through the dialect, and what must come back unchanged. */
import { afterAll, describe, expect, test } from 'vitest'
import { gemini as dialect } from '../../src/dialects/gemini.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { completionTokens, promptTokens, type Usage } from '../../src/wire/usage.ts'
import {
  bodyText,
  describeRecorded,
  type Interaction,
  interactions,
  looseAnswers,
  type RecordedError,
  readJson,
} from '../recordings.ts'
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
const requestSchema = validatorOf('gemini-generate.schema.json', 'GenerateContentRequest')

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

/** An oracle of its own: the provider's numbers. */
const expectSameUsage = (reported: unknown, usage: Usage | null): void => {
  const number = (name: string): number => Number(field(reported, name) ?? 0)
  const audio = (name: string): number =>
    list(field(reported, name))
      .filter(({ modality }) => modality === 'AUDIO')
      .reduce((sum, { tokenCount }) => sum + Number(tokenCount), 0)
  if (field(reported, 'promptTokenCount') === undefined) {
    expect(usage).toBeNull()
    return
  }
  expect(usage).not.toBeNull()
  if (usage === null) return
  const { tokens } = usage
  expect(promptTokens(usage) + completionTokens(usage)).toBe(number('totalTokenCount'))
  expect(promptTokens(usage)).toBe(number('promptTokenCount') + number('toolUsePromptTokenCount'))
  expect(completionTokens(usage)).toBe(
    number('candidatesTokenCount') + number('thoughtsTokenCount'),
  )
  expect((tokens.cacheRead ?? 0) + (tokens.cacheReadAudio ?? 0)).toBe(
    number('cachedContentTokenCount'),
  )
  expect(tokens.cacheReadAudio ?? 0).toBe(audio('cacheTokensDetails'))
  expect((tokens.inputAudio ?? 0) + (tokens.cacheReadAudio ?? 0)).toBe(audio('promptTokensDetails'))
  expect(usage.reasoning ?? 0).toBe(number('thoughtsTokenCount'))
  for (const count of Object.values(tokens)) expect(count).toBeGreaterThanOrEqual(0)
}

/** Without what tools of the provider's own did. */
const ours = (parts: readonly Json[]): Json[] =>
  parts.filter(part => part.text !== undefined || part.functionCall || part.inlineData)
const isThought = ({ thought }: Json): boolean => thought === true
const isText = (part: Json): boolean => part.text !== undefined && !isThought(part)
const textOf = (parts: readonly Json[]): string => parts.map(({ text }) => text ?? '').join('')
const signatureOf = ({ thoughtSignature }: Json): Json =>
  thoughtSignature ? { thoughtSignature } : {}

/** Arguments that came leaf by leaf are put together elsewhere; here they only need to be there. */
const wholeCalls = (parts: readonly Json[]): Json[] =>
  parts.filter(part => field(part, 'functionCall', 'name') !== undefined)

/** The answer's own parts, as the provider must find them again: texts joined, the last signature at their end. */
const replayable = (parts: readonly Json[]): Json[] => {
  const texts = ours(parts).filter(isText)
  const signed = texts.filter(({ thoughtSignature }) => thoughtSignature)
  const text = textOf(texts)
  return [
    ...parts.filter(part => isThought(part) && part.thoughtSignature),
    ...signed.slice(0, -1).map(part => ({ text: '', ...signatureOf(part) })),
    ...(text === '' && signed.length === 0 ? [] : [{ text, ...signatureOf(signed.at(-1) ?? {}) }]),
    ...wholeCalls(parts).map(part => ({
      functionCall: {
        name: field(part, 'functionCall', 'name'),
        args: field(part, 'functionCall', 'args') ?? {},
      },
      ...signatureOf(part),
    })),
  ]
}

/** Sends a message of ours back, and looks at what becomes of it. */
const rendersBack = (message: Json, upstreamModel: string): Json[] => {
  const chat = ChatRequestSchema.parse({
    model: 'a/b',
    messages: [{ role: 'user', content: 'q' }, message],
  })
  const { body } = dialect.renderRequest(chat, { upstreamModel, maxOutputTokens: null })
  const request = JSON.parse(body) as Json
  expect(complaints(requestSchema, request)).toEqual([])
  return list(field(request, 'contents', '1', 'parts')).map(part => {
    if (!part.functionCall) return part
    const { name, args } = part.functionCall as Json
    return { ...part, functionCall: { name, args } }
  })
}

const withoutDetails = ({ reasoning_details: _, ...message }: Json): Json => message

const expectSameAnswer = (message: Json, parts: readonly Json[], inPieces: boolean): void => {
  expect(message.content ?? '').toBe(textOf(ours(parts).filter(isText)))
  expect(message.reasoning ?? '').toBe(textOf(parts.filter(isThought)))
  const calls = wholeCalls(parts)
  expect(list(message.tool_calls).map(call => field(call, 'function', 'name'))).toEqual(
    calls.map(part => field(part, 'functionCall', 'name')),
  )
  for (const call of list(message.tool_calls)) expect(call.id).toMatch(/^[\w-]+$/)
  expect(new Set(list(message.tool_calls).map(({ id }) => id)).size).toBe(calls.length)
  expect(list(message.images)).toHaveLength(parts.filter(({ inlineData }) => inlineData).length)
  for (const { url_citation: place } of list(message.annotations) as { url_citation: Json }[])
    expect(Number(place.end_index)).toBeLessThanOrEqual(String(message.content).length)
  const said = message.content || message.tool_calls || message.reasoning_details
  if (!said || inPieces || message.images) return
  expect(rendersBack(message, 'gemini-2.5-flash')).toEqual(replayable(parts))
  // Signatures of calls survive in the calls themselves, too.
  const signed = (all: Json[]) => all.filter(part => part.functionCall)
  if (calls.length > 0)
    expect(signed(rendersBack(withoutDetails(message), 'gemini-2.5-flash'))).toEqual(
      signed(replayable(parts)),
    )
}

const finished = new Set(['stop', 'length', 'tool_calls', 'content_filter'])
/** Reasons that are errors to our clients, seen in recordings. */
const failed = new Set(['UNEXPECTED_TOOL_CALL'])

const checkWhole = (provider: string, body: string): void => {
  const { answer, usage } = dialect.parseResponse(body)
  expect(answerComplaints(answer)).toEqual([])
  const source = JSON.parse(body) as Json
  const candidates = list(source.candidates)
  expectSameUsage(source.usageMetadata, usage)
  tallies.of(provider).usage++
  tallies.of(provider).answers++
  if (candidates.length === 0) {
    expect(answer.choices[0]?.finish_reason).toBe('content_filter')
    return
  }
  for (const [i, candidate] of candidates.entries()) {
    const choice = answer.choices[i]
    expect(choice?.native_finish_reason).toBe(candidate.finishReason)
    if (!failed.has(String(candidate.finishReason)))
      expect(finished.has(String(choice?.finish_reason))).toBe(true)
    expectSameAnswer({ ...choice?.message }, list(field(candidate, 'content', 'parts')), false)
  }
}

const sourceEvents = (text: string): Json[] =>
  [...text.matchAll(/^data: ?(\{.*)$/gm)].map(match => JSON.parse(match[1] ?? '') as Json)

/** Events of a message's gathered calls lack what stands beside a function. */
const withExtras = (message: Json, chunks: readonly Json[]): Json => {
  const extras = new Map<unknown, unknown>()
  for (const choice of chunks.flatMap(chunk => list(chunk.choices)))
    for (const call of list(field(choice, 'delta', 'tool_calls')))
      if (call.extra_content) extras.set(call.index, call.extra_content)
  const calls = list(message.tool_calls).map((call, i) =>
    extras.has(i) ? { ...call, extra_content: extras.get(i) } : call,
  )
  return calls.length > 0 ? { ...message, tool_calls: calls } : message
}

const checkStream = (provider: string, text: string): void => {
  const bytes = Buffer.from(text)
  const outcome = run(dialect, [bytes])
  expect(outcome.ending).toBe('done')
  // White space that means nothing keeps every event off the short way, which must make no difference.
  const spaced = run(dialect, [Buffer.from(text.replaceAll(/"text": ?"/g, '"text":   "'))])
  expect(chunksOf(spaced)).toEqual(chunksOf(outcome))
  const chunks = chunksOf(outcome)
  for (const chunk of chunks) expect(chunkComplaints(chunk)).toEqual([])
  const choices = chunks.flatMap(chunk => chunk.choices)
  expect(choices.filter(({ delta }) => delta.role !== undefined)).toEqual([choices[0]])
  const source = sourceEvents(text)
  const natives = source.flatMap(event => field(event, 'candidates', '0', 'finishReason') ?? [])
  const reasons = choices.filter(({ finish_reason: reason }) => reason !== null)
  expect(reasons).toHaveLength(1)
  expect(reasons[0]?.native_finish_reason).toBe(natives[0])
  expect(finished.has(String(reasons[0]?.finish_reason))).toBe(true)
  const parts = source.flatMap(event => list(field(event, 'candidates', '0', 'content', 'parts')))
  const inPieces = /willContinue/.test(text)
  expectSameAnswer(withExtras({ ...gather(chunks) }, chunks), parts, inPieces)
  const reported = source.map(({ usageMetadata }) => usageMetadata).filter(Boolean)
  const last = outcome.events.findLast(({ usage }) => usage)
  expectSameUsage(reported.at(-1), last?.usage ?? null)
  expect(last?.running).toBeUndefined()
  expectSameWhenRecut(dialect, bytes, outcome)
  tallies.of(provider).usage++
  tallies.of(provider).answers++
  tallies.of(provider).cuts++
}

const isGoogle = ({ provider }: Interaction): boolean => /gemini|vertex|gateway/.test(provider)

describeRecorded('recorded Gemini answers', () => {
  const all = interactions(/[gG]enerateContent/).filter(isGoogle)
  const answers = all.filter(({ response }) => response.status < 300)
  const isStream = ({ request }: Interaction): boolean => /streamGenerate/.test(request.url)
  const named = (some: Interaction[]) => some.map(one => [one.file, one] as const)
  for (const { provider } of all) tallies.of(provider).recordings++

  describe('whole', () => {
    test.each(named(answers.filter(one => !isStream(one))))('%s', (_, { provider, response }) => {
      checkWhole(provider, bodyText(response.body))
    })
    const loose = looseAnswers('.json').filter(
      ({ provider, text }) => provider === 'google' && /"candidates"/.test(text),
    )
    test.each(loose.map(one => [one.file, one] as const))('%s', (_, { text }) => {
      tallies.of('gemini').recordings++
      checkWhole('gemini', text)
    })
  })

  describe('streamed', () => {
    test.each(named(answers.filter(isStream)))('%s', (_, { provider, response }) => {
      checkStream(provider, bodyText(response.body))
    })
    const loose = looseAnswers('.chunks.txt').filter(
      ({ provider, text }) => provider === 'google' && /"candidates"/.test(text),
    )
    test.each(loose.map(one => [one.file, one] as const))('%s', (_, { text }) => {
      tallies.of('gemini').recordings++
      const lines = text.split('\n').filter(line => line.trim() !== '')
      checkStream('gemini', lines.map(line => `data: ${line}\r\n\r\n`).join(''))
    })

    test('cut off before its reason is an error', () => {
      const texts = answers.filter(isStream).map(({ response }) => bodyText(response.body))
      const long = texts.find(text => sourceEvents(text).length > 2) ?? ''
      const first = long.slice(0, long.search(/\r?\n\r?\n/))
      expect(run(dialect, [Buffer.from(`${first}\r\n\r\n`)]).ending).toMatch(
        /^provider_invalid_response/,
      )
    })
  })

  describe('refusals', () => {
    const errors = (readJson('errors/http-errors.json') as RecordedError[]).filter(({ provider }) =>
      /^(gemini|vertex)$/.test(provider),
    )
    const expected = (status: number, body: string): string => {
      if (/API_KEY_INVALID/.test(body)) return 'provider_rejected_credentials'
      if (/token count/.test(body)) return 'context_length_exceeded'
      return { 404: 'model_not_found', 429: 'provider_rate_limited' }[status] ?? 'invalid_request'
    }
    test.each(errors.map((one, i) => [i, one] as const))('%i', (_, recorded) => {
      const body = bodyText(recorded.response_body)
      // What limits the rate also counts tokens.
      const wanted =
        recorded.status === 429 ? 'provider_rate_limited' : expected(recorded.status, body)
      for (const told of [body, `[${body}]`]) {
        const error = dialect.parseError(recorded.status, recorded.response_headers, told)
        expect(error.code).toBe(wanted)
        const delay = /"retryDelay": ?"(\d+)/.exec(body)?.[1]
        if (delay)
          expect(Number(error.headers['retry-after'])).toBeGreaterThanOrEqual(Number(delay))
      }
    })

    test('how long to wait is read from the details', () => {
      const loose = looseAnswers('retry-info.json').find(({ provider }) => provider === 'google')
      const error = dialect.parseError(429, {}, loose?.text ?? '')
      expect([error.code, error.headers['retry-after']]).toEqual(['provider_rate_limited', '35'])
    })
  })

  afterAll(() => tallies.print())
})
