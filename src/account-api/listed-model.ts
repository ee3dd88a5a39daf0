/** A model as the list shows it: OpenAI's fields, and OpenRouter's for what it is and costs. */
import { z } from 'zod'
import type { Modality, Model } from '../models/model.ts'
import type { Price, Rates } from '../models/price.ts'
import { usdRate } from './fields.ts'
import { perToken, withMarkup } from './pricing.ts'

const rates = {
  prompt: usdRate('A token of the prompt.'),
  completion: usdRate('A token of the answer, reasoning included.'),
  input_cache_read: usdRate('A token of the prompt that is read from a cache.'),
  input_cache_write: usdRate('A token that is written to a cache.'),
  input_cache_write_1h: usdRate('Likewise, into one that lasts an hour.').optional(),
  audio: usdRate('A token of audio in the prompt.').optional(),
  input_audio_cache: usdRate('Likewise, read from a cache.').optional(),
  audio_output: usdRate('A token of audio in the answer.').optional(),
}

export const ListedModelSchema = z.object({
  id: z.string().describe('What to write in `model`.'),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds; 0 where nobody says.'),
  owned_by: z.string().describe('Who serves it: the first segment of `id`.'),
  name: z.string(),
  description: z.string().nullable(),
  available: z.boolean().describe('Whether this gateway serves it; false only with `all=true`.'),
  context_length: z.int().nullable().describe('Tokens. null where nobody says.'),
  architecture: z
    .object({
      modality: z.string().nullable().describe('Both lists in one, such as `text+image->text`.'),
      input_modalities: z.array(z.string()).describe('Those that are known.'),
      output_modalities: z.array(z.string()).describe('Those that are known.'),
      tokenizer: z.string().nullable(),
      instruct_type: z.string().nullable(),
    })
    .describe('null where nobody says.'),
  pricing: z
    .object({
      ...rates,
      request: usdRate('Each request.'),
      web_search: usdRate("Each search by the provider's own tool.").optional(),
    })
    .describe('What you pay: USD per token and for each, as decimal strings.'),
  pricing_tiers: z
    .array(
      z.object({
        above_prompt_tokens: z
          .int()
          .describe('A prompt longer than this pays these rates for all tokens.'),
        ...rates,
      }),
    )
    .optional()
    .describe('Present where long prompts cost more.'),
  top_provider: z.object({
    context_length: z.int().nullable(),
    max_completion_tokens: z.int().nullable().describe('null where nobody says.'),
    is_moderated: z.boolean(),
  }),
  supported_parameters: z
    .array(z.string())
    .describe('Those that are known to work. Others are passed on to the provider.'),
})

export type ListedModel = z.infer<typeof ListedModelSchema>

export const toListedModel = (model: Model, markupBasisPoints: number): ListedModel => {
  const { price, provider } = model
  const [base, ...tiers] = price.tiers
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: provider.provider.id,
    name: model.name,
    description: model.description,
    available: provider.available,
    context_length: model.contextWindow,
    architecture: architectureOf(model, base.rates),
    pricing: { ...toRates(base.rates, markupBasisPoints), ...toFees(price, markupBasisPoints) },
    ...(tiers.length === 0
      ? {}
      : {
          pricing_tiers: tiers.map(tier => ({
            above_prompt_tokens: tier.abovePromptTokens,
            ...toRates(tier.rates, markupBasisPoints),
          })),
        }),
    top_provider: {
      context_length: model.contextWindow,
      max_completion_tokens: model.maxOutputTokens,
      is_moderated: false,
    },
    supported_parameters: parametersOf(model),
  }
}

const always = ['max_completion_tokens', 'max_tokens', 'stream', 'stream_options', 'usage']
/** Models that reason refuse some of these. */
const sampling = ['stop', 'temperature', 'top_p']

const tools = ['tool_choice', 'tools']
const reasoning = ['reasoning']

const parametersOf = (model: Model): string[] => [
  ...always,
  ...(model.reasons ? [] : sampling),
  ...(model.supportsTools ? tools : []),
  ...(model.supportsReasoning ? reasoning : []),
]

const architectureOf = (model: Model, priced: Rates): ListedModel['architecture'] => {
  const { inputModalities, outputModalities } = model
  const input = withAudio(inputModalities, priced.inputAudio !== priced.input)
  const output = withAudio(outputModalities, priced.outputAudio !== priced.output)
  const isKnown = inputModalities !== null && outputModalities !== null
  return {
    modality: isKnown ? `${input.join('+')}->${output.join('+')}` : null,
    input_modalities: input,
    output_modalities: output,
    tokenizer: null,
    instruct_type: null,
  }
}

/** A price of its own for audio says that the model takes it. */
const withAudio = (known: readonly Modality[] | null, pricesAudio: boolean): Modality[] => {
  const kinds = new Set<Modality>(known ?? ['text'])
  if (pricesAudio) kinds.add('audio')
  return [...kinds]
}

type RatesBody = Omit<ListedModel['pricing'], 'request' | 'web_search'>

/** Every class has a rate; one that equals its like goes without saying. */
const toRates = (priced: Rates, markupBasisPoints: number): RatesBody => {
  const rate = (nanoUsd: bigint) => perToken(nanoUsd, markupBasisPoints)
  const body: RatesBody = {
    prompt: rate(priced.input),
    completion: rate(priced.output),
    input_cache_read: rate(priced.cacheRead),
    input_cache_write: rate(priced.cacheWrite),
  }
  if (priced.cacheWrite1h !== priced.cacheWrite)
    body.input_cache_write_1h = rate(priced.cacheWrite1h)
  if (priced.inputAudio !== priced.input) {
    body.audio = rate(priced.inputAudio)
    body.input_audio_cache = rate(priced.cacheReadAudio)
  }
  if (priced.outputAudio !== priced.output) body.audio_output = rate(priced.outputAudio)
  return body
}

const toFees = ({ fees }: Price, markupBasisPoints: number) => ({
  request: withMarkup(fees.request ?? 0n, markupBasisPoints),
  ...(fees.webSearch === undefined
    ? {}
    : { web_search: withMarkup(fees.webSearch, markupBasisPoints) }),
})
