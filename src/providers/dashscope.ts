import { chatCompletions } from '../dialects/chat-completions.ts'
import { bearer, type Provider } from './provider.ts'

export const dashscope = {
  id: 'dashscope',
  name: 'DashScope (Qwen)',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  dialect: chatCompletions,
  apiKeyEnv: 'DASHSCOPE_API_KEY',
  authorize: bearer,
} satisfies Provider
