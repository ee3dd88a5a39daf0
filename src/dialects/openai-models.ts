/** What OpenAI's models take, by name, wherever they are served: https://platform.openai.com/docs/models (2026-11). */
import type { ChatRequest } from '../wire/chat.ts'

/** `gpt-5.4-mini` → 504, `o3` and foreign names → 0. */
const versionOf = (name: string): number => {
  const [, major = '0', minor = '0'] = /gpt-(\d+)(?:[.-](\d{1,2})(?!\d))?/.exec(name) ?? []
  return Number(major) * 100 + Number(minor)
}

const isSeries = (name: string): boolean => /(?:^|[/.])o\d(?:-|$)/.test(name)

/** Their answers to chat-completions are refusals. */
const answersOnResponsesOnly = (name: string): boolean =>
  /codex/.test(name) || (/-pro(?:-|$)/.test(name) && (versionOf(name) > 0 || isSeries(name)))

/** From here on the models refuse functions on chat-completions: https://github.com/openai/openai-openapi/issues/541 */
const firstWithoutTools = 504

/** Whether a request for this model must go to the Responses API. */
export const needsResponses = (name: string, { tools }: ChatRequest): boolean =>
  answersOnResponsesOnly(name) || (tools?.length ? versionOf(name) >= firstWithoutTools : false)

/** Reasons, and hands its reasoning out encrypted; others refuse to be asked for that. */
export const encryptsReasoning = (name: string): boolean =>
  isSeries(name) || /codex/.test(name) || (versionOf(name) >= 500 && !/chat/.test(name))

/** Temperature and the like are refused while a model reasons; 5.1 to 5.4 do so only when told to. */
export const takesSampling = (name: string, effort: string | null): boolean => {
  if (!encryptsReasoning(name)) return true
  const version = versionOf(name)
  const quiet = version > 500 && version <= 504 && !answersOnResponsesOnly(name)
  return quiet && (effort === null || effort === 'none')
}

/** The nearest effort that the model knows: only the first GPT-5 takes `minimal`. */
export const effortFor = (name: string, effort: string): string => {
  const first = versionOf(name) === 500 && !answersOnResponsesOnly(name)
  return effort === 'minimal' && encryptsReasoning(name) && !first ? 'low' : effort
}
