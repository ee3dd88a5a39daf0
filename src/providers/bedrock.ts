import { bedrockConverse } from '../dialects/bedrock-converse.ts'
import { type AwsCredential, signAws } from '../wire/sigv4.ts'
import { bearer, type Provider } from './provider.ts'

/** `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, and `:SESSION_TOKEN` behind a temporary one. No API key of Bedrock holds a colon. */
const awsCredential = (credential: string): AwsCredential | null => {
  const [accessKeyId, secretAccessKey, sessionToken, ...more] = credential.split(':')
  if (!accessKeyId || !secretAccessKey || more.length > 0) return null
  return { accessKeyId, secretAccessKey, sessionToken: sessionToken || null }
}

const defaultRegion = 'us-east-1'

/** The host names it, save where the base URL is a proxy's. */
const regionOf = (url: string): string =>
  /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z]{2}[a-z0-9-]+-\d)\./.exec(new URL(url).host)?.[1] ??
  defaultRegion

/** https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html (2026-11) */
const claude = [
  'fable-5',
  'fable-5-1',
  'haiku-4-5-20251001-v1:0',
  'opus-4-1-20250805-v1:0',
  'opus-4-5-20251101-v1:0',
  'opus-4-6-v1',
  'opus-4-7',
  'opus-4-8',
  'opus-5',
  'opus-5-5',
  'sonnet-4-20250514-v1:0',
  'sonnet-4-5-20250929-v1:0',
  'sonnet-4-6',
  'sonnet-5',
]

/** Claude is served only through profiles that say in which part of the world; beyond `global` it is dearer. */
const claudeNames = ['us', 'eu', 'apac', 'au', 'jp', 'in', 'global'].flatMap(area =>
  claude.map(name => `${area}.anthropic.claude-${name}`),
)

const otherNames = [
  'us.amazon.nova-2-lite-v1:0',
  'us.amazon.nova-lite-v1:0',
  'us.amazon.nova-micro-v1:0',
  'us.amazon.nova-premier-v1:0',
  'us.amazon.nova-pro-v1:0',
  'us.deepseek.r1-v1:0',
  'us.meta.llama3-1-70b-instruct-v1:0',
  'us.meta.llama3-1-8b-instruct-v1:0',
  'us.meta.llama3-3-70b-instruct-v1:0',
  'us.meta.llama4-maverick-17b-instruct-v1:0',
  'us.meta.llama4-scout-17b-instruct-v1:0',
  'us.mistral.pixtral-large-2502-v1:0',
  'us.writer.palmyra-x4-v1:0',
  'us.writer.palmyra-x5-v1:0',
  'nvidia.nemotron-nano-3-30b',
  'nvidia.nemotron-nano-9b-v2',
  'nvidia.nemotron-super-3-120b',
  'qwen.qwen3-vl-235b-a22b',
]

/** Another region is another base URL. Also the prefixes of model names that go with it: `eu.`, `apac.`, … */
export const bedrock = {
  id: 'bedrock',
  name: 'AWS Bedrock',
  baseUrl: `https://bedrock-runtime.${defaultRegion}.amazonaws.com`,
  dialect: bedrockConverse,
  apiKeyEnv: 'BEDROCK_API_KEY',
  authorize: apiKey => (awsCredential(apiKey) === null ? bearer(apiKey) : {}),
  sign: (request, apiKey, nowMs): Record<string, string> => {
    const credential = awsCredential(apiKey)
    return credential === null
      ? {}
      : signAws(request, credential, regionOf(request.url), 'bedrock', nowMs)
  },
  priceSources: [
    {
      id: 'aws',
      // Left out: labels that only the list has, names without the area that they need, what isn't reached through
      // Converse, and what is retired: https://docs.aws.amazon.com/bedrock/latest/userguide/model-lifecycle.html (2026-11).
      except: /^regional\.|claude|\bgpt-\d|sonic|titan|premier|deepseek|^nvidia.*:0$|qwen3-vl/,
      alsoNamed: [...claudeNames, ...otherNames],
    },
  ],
  factsSource: { lists: ['amazon-bedrock'] },
} satisfies Provider
