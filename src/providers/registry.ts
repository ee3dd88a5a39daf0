import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { baseten } from './baseten.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { cloudflare } from './cloudflare.ts'
import { cohere } from './cohere.ts'
import { dashscope } from './dashscope.ts'
import { deepinfra } from './deepinfra.ts'
import { deepseek } from './deepseek.ts'
import { demo } from './demo.ts'
import { fireworks } from './fireworks.ts'
import { github } from './github.ts'
import { google } from './google.ts'
import { groq } from './groq.ts'
import { huggingface } from './huggingface.ts'
import { hyperbolic } from './hyperbolic.ts'
import { llamacpp } from './llamacpp.ts'
import { lmstudio } from './lmstudio.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshot } from './moonshot.ts'
import { nebius } from './nebius.ts'
import { novita } from './novita.ts'
import { nvidia } from './nvidia.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import type { Provider } from './provider.ts'
import { sambanova } from './sambanova.ts'
import { together } from './together.ts'
import { vertex } from './vertex.ts'
import { vllm } from './vllm.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

/** The only list of providers. A new one is a file in this folder and a line here. */
export const providers: readonly Provider[] = [
  openai,
  azure,
  anthropic,
  google,
  vertex,
  bedrock,
  mistral,
  cohere,
  groq,
  deepseek,
  xai,
  together,
  fireworks,
  openrouter,
  perplexity,
  cerebras,
  nvidia,
  moonshot,
  zai,
  dashscope,
  minimax,
  sambanova,
  deepinfra,
  huggingface,
  novita,
  nebius,
  hyperbolic,
  github,
  cloudflare,
  baseten,
  ollama,
  vllm,
  lmstudio,
  llamacpp,
  demo,
]
