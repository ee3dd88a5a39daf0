import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { needsResponses } from '../dialects/openai-models.ts'
import { openAiResponses } from '../dialects/openai-responses.ts'
import { notForChat } from './openai.ts'
import type { Provider } from './provider.ts'

const dialect = chatCompletionsWith({
  dropsFromMessages: ['reasoning', 'reasoning_content', 'reasoning_details', 'phase'],
  outputCap: 'max_completion_tokens',
})

const deployments = /\/deployments(?:\/[^/]+)?$/

/**
 * Azure OpenAI, in either form of its address: `…/openai/v1`, where the body names the deployment, or
 * `…/openai/deployments?api-version=…`, where the path does; what stands behind `deployments` is replaced by it. Also a
 * Foundry resource's `…/models?api-version=…`. The upstream model is the deployment's name.
 * https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle (2026-11)
 */
export const azure = {
  id: 'azure',
  name: 'Azure OpenAI',
  baseUrl: 'https://resource.openai.azure.com/openai/v1',
  needsBaseUrl: true,
  dialect,
  // A deployment's name is the operator's choice: the name that the model is sold by may say more.
  dialectFor: (model, chat) =>
    needsResponses(model, chat) || needsResponses(chat.model, chat) ? openAiResponses : dialect,
  place: (basePath, path, upstreamModel) => {
    if (!deployments.test(basePath)) return basePath + path
    const above = basePath.replace(deployments, '')
    return path === '/responses'
      ? above + path
      : `${above}/deployments/${encodeURIComponent(upstreamModel)}${path}`
  },
  apiKeyEnv: 'AZURE_API_KEY',
  authorize: (apiKey): Record<string, string> => (apiKey === '' ? {} : { 'api-key': apiKey }),
  // A global deployment costs what OpenAI asks. What others cost, and deployments of other names, the operator's file says.
  // https://azure.microsoft.com/pricing/details/cognitive-services/openai-service/ (2026-11)
  priceSources: [{ id: 'openai', except: new RegExp(`${notForChat.source}|^chatgpt|-chat\\b`) }],
  factsSource: { lists: ['azure', 'openai'], knowsAll: true },
} satisfies Provider
