import type { ApiKey } from '../accounts/keys.ts'
import { GatewayError } from '../errors.ts'
import type { Hold, Ledger } from '../ledger/ledger.ts'
import { formatUsd } from '../ledger/money.ts'
import type { Caller } from '../ledger/receipt.ts'
import type { Model } from '../models/model.ts'
import { appliedRates } from '../models/pricing.ts'
import { affordableOutput, costAtMost, type Estimate, estimate } from './estimate.ts'
import { Generation } from './generation.ts'
import { Meter } from './meter.ts'
import type { ReceivedChat } from './request.ts'
import type { TokenCounter } from './token-counter.ts'

export type AdmitDeps = {
  ledger: Ledger
  tokenCounter: TokenCounter
  nextGenerationId: () => string
  clock: () => number
  markupBasisPoints: number
  topUpUrl: string | null
}

export type Admission = { key: ApiKey; received: ReceivedChat; model: Model; caller: Caller }

/** An answer shorter than this is of no use to anybody. */
const usefulOutputTokens = 64
/** Sent to a model whose maximum nobody published: every chat model takes it. */
const safeOutputCap = 4_096
/** Above any published maximum output: who can pay this much needs no cap. */
const uncappedOutputTokens = 131_072

/**
 * Sets aside what the request can cost at most, synchronously and in memory, so that no two requests are let in on the
 * same money. Raises `insufficient_credits` with the figures, `ledger_unavailable`.
 */
export const admit = (deps: AdmitDeps, { key, received, model, caller }: Admission): Generation => {
  const { ledger, clock, markupBasisPoints } = deps
  const { chat, bytes } = received
  const asked = estimate(chat, bytes, model)
  const applied = appliedRates(model.price, asked.inputTokens, markupBasisPoints)
  const available = ledger.availableNanoUsd(key.accountId)
  const most = asked.outputNamed
    ? asked.outputTokens
    : asked.choices * (model.maxOutputTokens ?? uncappedOutputTokens)
  // The common case first: who can pay for the most needs no figures of what is affordable.
  const ample = asked.outputNamed || available >= costAtMost(asked.inputTokens, most, applied)
  const affordable = () =>
    Math.floor(affordableOutput(available, asked.inputTokens, most, applied) / asked.choices)
  const { outputTokens, outputCap } = ample
    ? { outputTokens: asked.outputTokens, outputCap: null }
    : capOutput(asked, affordable(), model)
  const amountNanoUsd = costAtMost(asked.inputTokens, outputTokens, applied)
  // A stream's first checkpoint is due in a second, and the tokeniser takes a good part of that to load.
  if (chat.stream) deps.tokenCounter.prepare()
  const hold = holdOrExplain(deps, key, amountNanoUsd, affordable)

  return new Generation({
    id: hold.generationId,
    key,
    chat,
    model,
    estimate: { ...asked, outputTokens },
    outputCap,
    hold,
    ledger,
    meter: new Meter(deps.tokenCounter),
    caller,
    markupBasisPoints,
    admittedAtMs: clock(),
    clock,
  })
}

/** Where the client named no maximum: a grant to start with, and a cap upstream where the balance pays for less than all. */
const capOutput = (
  { inputTokens, outputTokens, choices }: Estimate,
  affordable: number,
  model: Model,
) => {
  const useful = Math.min(usefulOutputTokens, model.maxOutputTokens ?? usefulOutputTokens)
  // Too little: hold for the useful minimum, which is refused with the figures.
  if (affordable < useful) return { outputTokens: useful * choices, outputCap: null }
  const granted = Math.min(outputTokens, affordable * choices)
  const maximum = model.maxOutputTokens ?? uncappedOutputTokens
  if (affordable >= maximum) return { outputTokens: granted, outputCap: null }
  // A cap that doesn't fit behind the prompt would be refused by the provider.
  const room = Math.max(useful, (model.contextWindow ?? uncappedOutputTokens) - inputTokens)
  const most = model.maxOutputTokens === null ? safeOutputCap : room
  const cap = Math.min(affordable, most)
  return { outputTokens: Math.min(granted, cap * choices), outputCap: cap }
}

const holdOrExplain = (
  { ledger, nextGenerationId, topUpUrl }: AdmitDeps,
  key: ApiKey,
  amountNanoUsd: bigint,
  affordableTokens: () => number,
): Hold => {
  const { accountId, id: keyId } = key
  try {
    return ledger.hold({ generationId: nextGenerationId(), accountId, keyId, amountNanoUsd })
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'insufficient_credits') throw error
    const { availableNanoUsd } = ledger.snapshot(accountId)
    throw new GatewayError(
      'insufficient_credits',
      `This request may cost up to $${formatUsd(amountNanoUsd)}, and $${formatUsd(availableNanoUsd)} is available. ` +
        'Add credit, or ask for fewer tokens.',
      {
        metadata: {
          ...error.metadata,
          affordable_max_tokens: affordableTokens(),
          ...(topUpUrl ? { top_up_url: topUpUrl } : {}),
        },
      },
    )
  }
}
