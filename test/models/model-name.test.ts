import { describe, expect, test } from 'vitest'
import { isChatName, isReasoningName, outputLimitOf } from '../../src/models/model-name.ts'

test.each([
  'gpt-4o',
  'gpt-oss-safeguard-20b',
  'nova-pro-v1',
  'babbage-chat',
  '@cf/meta/llama-3-8b-instruct',
  'deliverance',
])('%s can chat', name => {
  expect(isChatName(name)).toBe(true)
})

test.each([
  'text-embedding-3-large',
  'whisper-1',
  'gpt-image-1.5',
  'cohere/rerank-v3',
  'llama-guard-4-12b',
  'ada',
  'text-davinci-003',
  'gpt-4o-realtime-preview',
  'grok-voice-latest',
])('%s can not chat', name => {
  expect(isChatName(name)).toBe(false)
})

describe('reasoning', () => {
  test.each([
    'o1',
    'openai/o3-mini',
    'gpt-5',
    'gpt-5-mini-2025-08-07',
    'openai/gpt-6-sol',
    'gpt-oss-120b',
    'grok-4',
    'grok-3-mini',
    'deepseek-r1',
    'deepseek-ai/DeepSeek-R1-0528',
    'deepseek-reasoner',
    'magistral-medium-latest',
    'qwq-32b',
    'Qwen/Qwen3-32B',
    'kimi-k2-thinking',
    'zai-org/GLM-4.6',
    'gemini-2.5-pro',
    'sonar-reasoning-pro',
  ])('is known of %s', name => expect(isReasoningName(name)).toBe(true))
  test.each([
    'gpt-4o',
    'gpt-5-chat-latest',
    'grok-3',
    'grok-4-fast-non-reasoning',
    'deepseek-chat',
    'llama-3.3-70b',
    'mistral-large-latest',
    'qwen/qwen3-coder-30b-a3b-instruct',
    'claude-sonnet-4',
    'foo1',
  ])('is not of %s', name => expect(isReasoningName(name)).toBe(false))
})

test.each([
  ['gpt-3.5-turbo', 4096],
  ['gpt-4', 8192],
  ['gpt-4-0613', 8192],
  ['gpt-4-turbo', 4096],
  ['gpt-4o-2024-05-13', 4096],
  ['openai/gpt-4o', 16_384],
  ['gpt-4.1-mini', 32_768],
  ['o3', 100_000],
  ['gpt-5', 128_000],
  ['gpt-5-chat-latest', 16_384],
  ['llama-3.3-70b', null],
])('%s answers with up to %s tokens', (name, limit) => {
  expect(outputLimitOf(name)).toBe(limit)
})
