import { chatCompletionsWith } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const dashscope = {
  id: 'dashscope',
  name: 'DashScope (Qwen)',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  dialect: chatCompletionsWith({ outputCap: 'max_tokens', reasoning: 'enable_thinking' }),
  apiKeyEnv: 'DASHSCOPE_API_KEY',
  authorize: bearer,
} satisfies Provider
