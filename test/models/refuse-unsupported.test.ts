import { expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { buildStock } from '../../src/models/build-catalogue.ts'
import { StockCatalogue } from '../../src/models/catalogue.ts'
import { loadPriceData } from '../../src/models/price-data.ts'
import { refuseUnsupported } from '../../src/models/refuse-unsupported.ts'
import { configureProviders } from '../../src/providers/configured-provider.ts'
import { parseOperatorFile } from '../../src/providers/operator-file.ts'
import { providers } from '../../src/providers/registry.ts'
import type { ChatRequest } from '../../src/wire/chat.ts'

const price = { input: '1', output: '2' }
const file = parseOperatorFile(
  JSON.stringify({
    providers: [
      {
        id: 'acme',
        base_url: 'http://127.0.0.1:1',
        models: [
          { id: 'plain', price, images: false, tools: false },
          { id: 'able', price, images: true, tools: true },
          { id: 'unknown', price },
        ],
      },
    ],
  }),
  providers,
  {},
)
const timeouts = { connectMs: 1, firstByteMs: 1, wholeFirstByteMs: 1, idleMs: 1, totalMs: 1 }
const catalogue = new StockCatalogue(
  buildStock({
    providers: configureProviders([...providers, ...file.providers], new Map(), timeouts, file),
    prices: await loadPriceData(),
    file,
    nowMs: Date.parse('2026-11-21T00:00:00Z'),
  }),
)

const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
const withImage: Partial<ChatRequest> = {
  messages: [
    { role: 'system', content: 'Look.' },
    { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
  ],
}
const withTool: Partial<ChatRequest> = {
  tools: [{ type: 'function', function: { name: 'a', parameters: {} } }],
}

const refusal = (id: string, more: Partial<ChatRequest>) => {
  const model = catalogue.find(id)
  if (model === undefined) throw new Error(`no ${id}`)
  try {
    refuseUnsupported({ model: id, messages: [{ role: 'user', content: 'Hi' }], ...more }, model)
    return null
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return `${error.code} ${error.param}: ${error.message}`
  }
}

const more = 'GET /models tells what a model takes.'
test.each<[string, Partial<ChatRequest>, string | null]>([
  ['acme/plain', {}, null],
  ['acme/plain', { tools: [] }, null],
  ['acme/plain', withTool, `unsupported_parameter tools: acme/plain can't call tools. ${more}`],
  [
    'acme/plain',
    withImage,
    `unsupported_parameter messages[1].content[1]: acme/plain takes no images. ${more}`,
  ],
  ['acme/able', { ...withTool, ...withImage }, null],
  ['acme/unknown', { ...withTool, ...withImage }, null],
  [
    'openai/gpt-4',
    withImage,
    `unsupported_parameter messages[1].content[1]: openai/gpt-4 takes no images. ${more}`,
  ],
  ['openai/gpt-4', withTool, null],
  ['openai/gpt-4o-mini', { ...withTool, ...withImage }, null],
])('%s is asked for what it takes or not (%#)', (id, asked, expected) => {
  expect(refusal(id, asked)).toBe(expected)
})
