/**
 * Requests that were recorded, told in our words and rendered again: what an application sent to Google itself is what
 * Google gets through the gateway, later turns with their signatures and results included.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { gemini as dialect } from '../../src/dialects/gemini.ts'
import { ChatRequestSchema } from '../../src/wire/chat.ts'
import { describeRecorded, interactions } from '../recordings.ts'
import { complaints, field, type Json, Tallies, validatorOf } from './proof.ts'

const requestSchema = validatorOf('gemini-generate.schema.json', 'GenerateContentRequest')
const tallies = new Tallies()

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

/** The Python SDK writes snake case, some SDKs words in small letters; Google takes both. What tools are given is data. */
const spelled = (value: unknown, isData = false): unknown => {
  if (Array.isArray(value)) return value.map(one => spelled(one, isData))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => isData || one !== null)
  if (isData) return Object.fromEntries(entries.map(([key, one]) => [key, spelled(one, true)]))
  return Object.fromEntries(
    entries.map(([key, one]) => {
      const name = key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
      return [name, spelled(one, /^(args|response|parameters.*|response.*Schema)$/.test(name))]
    }),
  )
}

const dataUri = (blob: unknown): string =>
  `data:${field(blob, 'mimeType')};base64,${field(blob, 'data')}`

const partOf = (part: Json): Json => {
  if (part.text !== undefined) return { type: 'text', text: part.text }
  const uri = part.inlineData
    ? dataUri(part.inlineData)
    : String(field(part, 'fileData', 'fileUri'))
  const mimeType = String(
    field(part, 'inlineData', 'mimeType') ?? field(part, 'fileData', 'mimeType'),
  )
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url: uri } }
  return { type: 'file', file: { file_data: uri, filename: `file.${mimeType.split('/')[1]}` } }
}

const format = 'google-gemini-v1'
const kind = (parts: Json[], ...names: string[]): Json[] =>
  parts.filter(part => names.some(name => part[name] !== undefined))

const assistantOf = (parts: Json[], at: number): Json => {
  const isThought = ({ thought }: Json): boolean => thought === true
  const texts = kind(parts, 'text', 'inlineData').filter(part => !isThought(part))
  const details = [
    ...parts.filter(isThought).map(({ text, thoughtSignature }, index) => ({
      type: 'reasoning.text',
      text,
      signature: thoughtSignature,
      format,
      index,
    })),
    ...texts
      .filter(({ thoughtSignature }) => thoughtSignature)
      .map(({ thoughtSignature }) => ({
        type: 'reasoning.encrypted',
        data: thoughtSignature,
        format,
      })),
  ]
  const calls = kind(parts, 'functionCall').map(({ functionCall, thoughtSignature }, i) => ({
    id: field(functionCall, 'id') ?? `call_${at}_${i}`,
    type: 'function',
    function: {
      name: field(functionCall, 'name'),
      arguments: JSON.stringify(field(functionCall, 'args') ?? {}),
    },
    ...(thoughtSignature
      ? { extra_content: { google: { thought_signature: thoughtSignature } } }
      : {}),
  }))
  return {
    role: 'assistant',
    content: texts.map(partOf),
    reasoning_details: details,
    tool_calls: calls,
  }
}

/** Results name their calls, in order, where the recording has no ids. */
const messagesOf = (contents: Json[]): Json[] => {
  const messages: Json[] = []
  const open: Json[] = []
  for (const [at, { role, parts: all }] of contents.entries()) {
    const parts = list(all)
    if (role === 'model') {
      const message = assistantOf(parts, at)
      open.push(...list(message.tool_calls))
      messages.push(message)
      continue
    }
    for (const { functionResponse: result } of kind(parts, 'functionResponse')) {
      const named = (call: Json) => field(call, 'function', 'name') === field(result, 'name')
      const call = open.find(one => one.id === field(result, 'id')) ?? open.find(named)
      if (call) open.splice(open.indexOf(call), 1)
      const text = { type: 'text', text: JSON.stringify(field(result, 'response')) }
      const media = list(field(result, 'parts')).map(partOf)
      messages.push({ role: 'tool', tool_call_id: call?.id, content: [text, ...media] })
    }
    const rest = parts.filter(part => !part.functionResponse)
    if (rest.length > 0) messages.push({ role: 'user', content: rest.map(partOf) })
  }
  return messages
}

const declarationsOf = (request: Json): Json[] =>
  list(request.tools).flatMap(tool => list(tool.functionDeclarations))

const schemaOf = ({ parameters, parametersJsonSchema }: Json): unknown =>
  parametersJsonSchema ?? parameters

const choiceOf = (request: Json): unknown => {
  const config = field(request, 'toolConfig', 'functionCallingConfig')
  const names = field(config, 'allowedFunctionNames') as string[] | undefined
  const mode = String(field(config, 'mode') ?? '').toUpperCase()
  if (mode === 'NONE') return 'none'
  const tools = names?.map(name => ({ type: 'function', function: { name } }))
  if (mode === 'ANY' && tools?.length === 1) return tools[0]
  if (mode === 'ANY')
    return tools
      ? { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } }
      : 'required'
  return mode === 'AUTO' ? 'auto' : undefined
}

const chatOf = (request: Json): unknown => {
  const config = (request.generationConfig ?? {}) as Json
  const declared = declarationsOf(request)
  const system = list(field(request, 'systemInstruction', 'parts')).map(partOf)
  const schema = config.responseJsonSchema ?? config.responseSchema
  const { includeThoughts, thinkingBudget, thinkingLevel } = (config.thinkingConfig ?? {}) as Json
  const isJson = config.responseMimeType === 'application/json'
  return {
    model: 'google/x',
    messages: [
      ...(system.length > 0 ? [{ role: 'system', content: system }] : []),
      ...messagesOf(list(request.contents)),
    ],
    ...(declared.length > 0 && {
      tools: declared.map(one => ({
        type: 'function',
        function: { name: one.name, description: one.description, parameters: schemaOf(one) },
      })),
    }),
    tool_choice: choiceOf(request),
    temperature: config.temperature,
    top_k: config.topK,
    max_completion_tokens: config.maxOutputTokens,
    ...(isJson && {
      response_format: schema
        ? { type: 'json_schema', json_schema: { schema } }
        : { type: 'json_object' },
    }),
    ...(config.thinkingConfig !== undefined && {
      reasoning: {
        ...(thinkingLevel ? { effort: String(thinkingLevel).toLowerCase() } : {}),
        ...(thinkingBudget === 0
          ? { effort: 'none' }
          : thinkingBudget
            ? { max_tokens: thinkingBudget }
            : {}),
        enabled: includeThoughts === true || undefined,
      },
    }),
  }
}

const partsOf = (request: Json): Json[] =>
  list(request.contents).flatMap(({ parts }) => list(parts))

/** What chat completions have no words for. */
const unspeakable = (request: Json): boolean =>
  // Tools that Google runs, caches and armour kept there, pictures drawn to size.
  list(request.tools).some(tool => !tool.functionDeclarations) ||
  partsOf(request).some(part => part.toolCall || part.executableCode || part.codeExecutionResult) ||
  Boolean(
    request.cachedContent ??
      request.modelArmorConfig ??
      field(request, 'generationConfig', 'imageConfig'),
  ) ||
  // Files inside results, by address; they go beside them.
  partsOf(request).some(part =>
    list(field(part, 'functionResponse', 'parts')).some(({ fileData }) => fileData),
  )

/** One spelling for what says the same. */
const said = (request: Json): unknown => {
  const names = declarationsOf(request)
  const choice = choiceOf(request)
  const only = new Set(
    list(field(choice, 'allowed_tools', 'tools')).map(one => field(one, 'function', 'name')),
  )
  return {
    system: partTexts(list(field(request, 'systemInstruction', 'parts'))),
    contents: list(request.contents)
      .reduce<Json[]>((turns, { role = 'user', parts }) => {
        const last = turns.at(-1)
        if (last && last.role === role) last.parts = [...list(last.parts), ...list(parts)]
        else turns.push({ role, parts })
        return turns
      }, [])
      .map(({ role, parts }) => ({
        role,
        parts: list(parts)
          .filter(isSaid)
          .flatMap(part => plainPart(part)),
      })),
    tools: names
      .filter(({ name }) => only.size === 0 || only.has(name))
      .map(one => [one.name, one.description || undefined, field(schemaOf(one), 'properties')]),
  }
}

const partTexts = (parts: Json[]): unknown => parts.map(({ text }) => text)

/** Thoughts without a signature need not come back; nor do parts that say nothing. */
const isSaid = (part: Json): boolean =>
  part.thought === true
    ? Boolean(part.thoughtSignature)
    : part.text !== '' || Boolean(part.thoughtSignature)

const plainPart = (part: Json): Json[] => {
  const { functionCall, functionResponse, thoughtSignature, ...rest } = part
  const signature = thoughtSignature ? { thoughtSignature } : {}
  if (functionCall) {
    const { name, args = {} } = functionCall as Json
    return [
      {
        call: name,
        args,
        ...(thoughtSignature === 'skip_thought_signature_validator' ? {} : signature),
      },
    ]
  }
  if (functionResponse) {
    const { name, response, parts } = functionResponse as Json
    return [{ result: name, response }, ...list(parts).map(mediaOf)]
  }
  return [{ ...mediaOf(rest), ...signature }]
}

const mediaOf = (part: Json): Json => {
  const { inlineData, fileData, ...rest } = part
  if (inlineData) return { data: field(inlineData, 'data') }
  return fileData ? { uri: field(fileData, 'fileUri') } : rest
}

describeRecorded('recorded Gemini requests', () => {
  const all = interactions(/[gG]enerateContent/)
    .filter(({ provider }) => /gemini|vertex/.test(provider))
    .map(one => ({
      ...one,
      request: { ...one.request, sent: spelled(one.request.body.json) as Json },
    }))
    .filter(({ request }) => request.sent?.contents && !unspeakable(request.sent))
  for (const { provider } of all) tallies.of(provider).recordings++

  test('are many', () => {
    expect(all.length).toBeGreaterThan(150)
  })

  describe('told in our words, and rendered again', () => {
    test.each(all.map((one, i) => [`${one.file} ${i}`, one] as const))(
      '%s',
      (_, { provider, request }) => {
        const upstreamModel = /models\/([^:]+):/.exec(request.url)?.[1] ?? ''
        const chat = ChatRequestSchema.parse(chatOf(request.sent))
        const { body } = dialect.renderRequest(chat, { upstreamModel, maxOutputTokens: null })
        const rendered = JSON.parse(body) as Json
        expect(complaints(requestSchema, rendered)).toEqual([])
        expect(said(rendered)).toEqual(said(request.sent))
        const config = (request.sent.generationConfig ?? {}) as Json
        const { temperature, topK, maxOutputTokens, responseMimeType } = config
        expect(rendered.generationConfig ?? {}).toMatchObject(
          JSON.parse(JSON.stringify({ temperature, topK, maxOutputTokens, responseMimeType })),
        )
        const { includeThoughts, thinkingBudget } = (config.thinkingConfig ?? {}) as Json
        const thinking = field(rendered, 'generationConfig', 'thinkingConfig')
        if (includeThoughts !== undefined)
          expect(field(thinking, 'includeThoughts')).toBe(includeThoughts)
        if (thinkingBudget !== undefined)
          expect(field(thinking, 'thinkingBudget')).toBe(thinkingBudget)
        tallies.of(provider).requests++
      },
    )
  })

  afterAll(() => tallies.print())
})
