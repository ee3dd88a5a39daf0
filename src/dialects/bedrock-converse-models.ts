/**
 * What the models behind Amazon's one format take and refuse, read from their names. Sources:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html,
 * …/prompt-caching.html, …/structured-output.html, https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
 * (2026-11), and recorded requests.
 */
import { type ClaudeTraits, claudeTraits } from './claude-models.ts'

export type ModelTraits = {
  /** `null` where it surely is none. Behind an ARN may stand anything, so there the common ground of all. */
  readonly claude: ClaudeTraits | null
  /** How reasoning is asked for: Claude's `thinking`, gpt-oss's `reasoning_effort`, Nova's `reasoningConfig`. */
  readonly reasoning: 'claude' | 'gpt-oss' | 'nova' | 'none'
  /** Marks of the prompt cache: among tools too, in messages alone, or not at all. */
  readonly cachePoints: 'everywhere' | 'messages' | 'none'
  /** An output format by schema. */
  readonly takesSchema: boolean
}

/** Models that refuse an output format; Nova and older ones are made to write JSON by a tool. */
const withoutSchema =
  /amazon\.(nova|titan)|meta\.llama|ai21\.|cohere\.|writer\.|mistral\.(mistral-(7b|large-240|small)|mixtral|pixtral)|deepseek\.r1/

const reasoningOf = (model: string): ModelTraits['reasoning'] => {
  if (model.includes('openai.gpt-oss')) return 'gpt-oss'
  return model.includes('amazon.nova-2') ? 'nova' : 'none'
}

const isUnknown = (model: string): boolean => /^arn:|^[a-z0-9]{12}$/.test(model)

const traitsOf = (model: string): ModelTraits => {
  if (model.includes('claude') || isUnknown(model)) {
    const claude = claudeTraits(model)
    return {
      claude,
      reasoning: 'claude',
      cachePoints: 'everywhere',
      takesSchema: claude.takesSchema,
    }
  }
  return {
    claude: null,
    reasoning: reasoningOf(model),
    cachePoints: model.includes('amazon.nova') ? 'messages' : 'none',
    takesSchema: !withoutSchema.test(model),
  }
}

const known = new Map<string, ModelTraits>()
const maxKnown = 256

export const modelTraits = (model: string): ModelTraits => {
  let traits = known.get(model)
  if (traits === undefined) {
    traits = traitsOf(model)
    if (known.size >= maxKnown) known.clear()
    known.set(model, traits)
  }
  return traits
}
