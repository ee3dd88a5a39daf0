/** Recorded requests to Anthropic, told in our words: what a client of ours would have written to the same end. */
import { field, type Json } from './proof.ts'

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])
export const blocks = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : list(content)

const mark = ({ cache_control }: Json): Json => (cache_control ? { cache_control } : {})

const dataUri = (source: unknown): string =>
  `data:${field(source, 'media_type')};base64,${field(source, 'data')}`

/** A block of the user's as a part of ours; `null` where chat completions has none. */
const partOf = (block: Json): Json | null => {
  const source = field(block, 'source')
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text, ...mark(block) }
    case 'image': {
      const url = field(source, 'url') ?? dataUri(source)
      return { type: 'image_url', image_url: { url }, ...mark(block) }
    }
    case 'document': {
      const kind = field(source, 'type')
      const inText = `data:text/plain,${encodeURIComponent(String(field(source, 'data')))}`
      const data = kind === 'text' ? inText : (field(source, 'url') ?? dataUri(source))
      const file = { file_data: data, ...(block.title ? { filename: block.title } : {}) }
      const cited = block.citations ? { citations: block.citations } : {}
      return kind === 'file' ? null : { type: 'file', file, ...cited, ...mark(block) }
    }
  }
  return null
}

const detailOf = (block: Json, index: number): Json =>
  block.type === 'thinking'
    ? {
        type: 'reasoning.text',
        text: block.thinking,
        signature: block.signature,
        format: 'anthropic-claude-v1',
        index,
      }
    : { type: 'reasoning.encrypted', data: block.data, format: 'anthropic-claude-v1', index }

const isThinking = ({ type }: Json): boolean => /thinking$/.test(String(type))

const assistantOf = (content: Json[]): Json => ({
  role: 'assistant',
  content: content.filter(({ type }) => type === 'text').map(block => partOf(block)),
  reasoning_details: content.filter(isThinking).map(detailOf),
  tool_calls: content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input, ...rest }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
      ...mark(rest),
    })),
})

const resultOf = (block: Json): Json => ({
  role: 'tool',
  tool_call_id: block.tool_use_id,
  content: blocks(block.content).map(partOf),
  ...mark(block),
})

const messagesOf = ({ role, content }: Json): Json[] => {
  const all = blocks(content)
  if (role === 'assistant') return [assistantOf(all)]
  const said = all.filter(({ type }) => type !== 'tool_result').map(partOf)
  return [
    ...all.filter(({ type }) => type === 'tool_result').map(resultOf),
    ...(said.length > 0 ? [{ role: 'user', content: said }] : []),
  ]
}

const choiceOf = (choice: unknown): Json => {
  const type = field(choice, 'type')
  if (type === undefined) return {}
  const named = { type: 'function', function: { name: field(choice, 'name') } }
  const mode = type === 'any' ? 'required' : type
  const serial = field(choice, 'disable_parallel_tool_use') === true
  return {
    tool_choice: type === 'tool' ? named : mode,
    ...(serial ? { parallel_tool_calls: false } : {}),
  }
}

/** The request as a client of ours would have written it. */
export const chatOf = (request: Json): Json => ({
  model: `anthropic/${request.model}`,
  max_tokens: request.max_tokens,
  messages: [
    ...(request.system === undefined
      ? []
      : [{ role: 'system', content: blocks(request.system).map(partOf) }]),
    ...list(request.messages).flatMap(messagesOf),
  ],
  ...(list(request.tools).length > 0 && {
    tools: list(request.tools).map(({ name, description, input_schema, strict, ...rest }) => ({
      type: 'function',
      function: { name, description, parameters: input_schema, strict },
      ...mark(rest),
    })),
  }),
  ...choiceOf(request.tool_choice),
  ...(request.thinking === undefined ? {} : { thinking: request.thinking }),
  ...(request.stream === true ? { stream: true } : {}),
  ...(request.cache_control === undefined ? {} : { cache_control: request.cache_control }),
})

/** What the client said of each turn, whichever of the two spellings it chose; our turns are merged. */
export const turnsOf = (request: Json): Json[] => {
  const turns: { role: unknown; content: Json[] }[] = []
  for (const { role, content } of list(request.messages)) {
    const plain = blocks(content)
      .filter(({ type, text }) => type !== 'text' || String(text).trim() !== '')
      .map(({ caller: _, is_error: __, ...block }) =>
        block.type === 'tool_result' ? { ...block, content: blocks(block.content) } : block,
      )
    const last = turns.at(-1)
    if (last?.role === role) last?.content.push(...plain)
    else turns.push({ role, content: plain })
  }
  return turns
}

/** Tools that Anthropic runs, files and containers that it keeps: not sold here. */
export const beyondUs =
  /server_tool_use|_tool_result|mcp_|container|"file_id"|search_result|tool_reference|web_fetch|code_execution|tool_search|"type":"(advisor|memory|computer)|"role":"system"|citations":\[|tool_addition/
