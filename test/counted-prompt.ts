import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { type ScriptInput, script } from './upstream/scripted-upstream.ts'

/**
 * A prompt that tells the upstream to report as many prompt tokens as the tokeniser counts in it: so the price of the
 * input is the same whether it was reported or counted. (Any number of up to three digits is one token.)
 */
export const countedPrompt = (wanted: ScriptInput): { content: string; promptTokens: number } => {
  const promptTokens = countTokens(script({ ...wanted, promptTokens: 100 }))
  return { content: script({ ...wanted, promptTokens }), promptTokens }
}
