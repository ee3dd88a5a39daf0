/** How a provider's chat-completions differs from OpenAI's. A provider file names what applies; the dialect acts. */
export type Quirks = {
  /** Below the base URL. Default `/chat/completions`. */
  path?: string
  /** The only spelling of the output cap that is taken; the client's is renamed. Default: both are, as the client wrote it. */
  outputCap?: 'max_tokens' | 'max_completion_tokens'
  /**
   * How reasoning is asked for: OpenAI's `reasoning_effort` (the default), OpenRouter's `reasoning` object,
   * `thinking: {type}` (Z.ai, Moonshot, DeepSeek), `enable_thinking` (Qwen), or not at all.
   */
  reasoning?: 'reasoning_effort' | 'reasoning' | 'thinking' | 'enable_thinking' | 'none'
  /** Top-level fields that the provider refuses and that are mere hints: left out. */
  drops?: readonly string[]
  /** Top-level fields that can't be honoured and that change the answer: `unsupported_parameter`. */
  refuses?: readonly string[]
  /** Top-level fields that go by another name there. */
  renames?: Readonly<Record<string, string>>
  /** Fields of assistant messages that the provider refuses when a client sends an earlier answer back. */
  dropsFromMessages?: readonly string[]
  /** The stream ends without `[DONE]`: a finish reason for every choice is its end. */
  endsWithoutDone?: true
  /** Each answered request carries a fee of its own. */
  feePerRequest?: true
}
