import { chargeOf } from '../ledger/charge.ts'
import { completionTokens, inputClasses, promptTokens, type Usage } from '../wire/usage.ts'
import type { Settled } from './generation.ts'

/** `usage` as clients read it: OpenAI's fields with their details, and the cost. Money here is for display: USD numbers. */
export type UsageBody = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number; audio_tokens: number }
  completion_tokens_details: { reasoning_tokens: number; audio_tokens: number }
  /** What left the balance. */
  cost: number
  cost_details: {
    upstream_inference_cost: number
    upstream_inference_prompt_cost: number
    upstream_inference_completions_cost: number
  }
  estimated?: true
}

const toUsd = (nanoUsd: bigint): number => Number(nanoUsd) / 1e9

export const usageBody = ({
  usage,
  estimated,
  applied,
  priceNanoUsd,
  settlement,
}: Settled): UsageBody => {
  const { tokens } = usage
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const promptPriceNanoUsd = chargeOf(promptPart(usage), applied)
  const body: UsageBody = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: (tokens.cacheRead ?? 0) + (tokens.cacheReadAudio ?? 0),
      cache_write_tokens: (tokens.cacheWrite ?? 0) + (tokens.cacheWrite1h ?? 0),
      audio_tokens: (tokens.inputAudio ?? 0) + (tokens.cacheReadAudio ?? 0),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning ?? 0,
      audio_tokens: tokens.outputAudio ?? 0,
    },
    cost: toUsd(settlement.chargeNanoUsd),
    cost_details: {
      upstream_inference_cost: toUsd(priceNanoUsd),
      upstream_inference_prompt_cost: toUsd(promptPriceNanoUsd),
      upstream_inference_completions_cost: toUsd(priceNanoUsd - promptPriceNanoUsd),
    },
  }
  if (estimated) body.estimated = true
  return body
}

const promptPart = ({ tokens, counts }: Usage): Usage => {
  const part: Usage = { tokens: {} }
  for (const name of inputClasses) {
    const count = tokens[name]
    if (count) part.tokens[name] = count
  }
  if (counts) part.counts = counts
  return part
}
