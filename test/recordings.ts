/**
 * Recorded traffic of real providers, read where it lies and never copied here. `RECORDINGS_DIR` says where; by default
 * `../shared/recordings` beside the checkout. Suites that need it are skipped by name where it is absent.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeWhere } from './where.ts'

const recordingsDir =
  process.env.RECORDINGS_DIR ?? join(import.meta.dirname, '../../shared/recordings')

/** JSON schemas of the vendors, beside the recordings. */
export const specsDir = process.env.SPECS_DIR ?? join(recordingsDir, '../specs')

export const describeRecorded = describeWhere(
  existsSync(recordingsDir),
  'no recordings at RECORDINGS_DIR',
)

type RecordedBody = { json?: unknown; text?: string; base64?: string; empty?: true }

export type Interaction = {
  file: string
  provider: string
  request: { url: string; body: RecordedBody }
  response: { status: number; headers: Record<string, string>; body: RecordedBody }
}

export type RecordedError = {
  provider: string
  status: number
  url: string
  response_headers: Record<string, string>
  response_body: RecordedBody
}

export const readJson = (path: string): unknown =>
  JSON.parse(readFileSync(join(recordingsDir, path), 'utf8'))

const cassetteSources = ['ruby_llm', 'pydantic-ai', 'fantasy']

/** Every recorded pair whose URL matches, in the order of the files' names. */
export const interactions = (url: RegExp): Interaction[] =>
  cassetteSources.flatMap(source =>
    readdirSync(join(recordingsDir, source)).flatMap(provider =>
      readdirSync(join(recordingsDir, source, provider)).flatMap(name => {
        const file = `${source}/${provider}/${name}`
        const cassette = readJson(file) as { interactions: Omit<Interaction, 'file'>[] }
        return cassette.interactions
          .filter(({ request }) => url.test(request.url))
          .map(interaction => ({ ...interaction, file }))
      }),
    ),
  )

/** Files of `vercel-ai/`, which hold answers without their requests: name and text. */
export const looseAnswers = (ending: string): { file: string; provider: string; text: string }[] =>
  readdirSync(join(recordingsDir, 'vercel-ai')).flatMap(provider =>
    readdirSync(join(recordingsDir, 'vercel-ai', provider))
      .filter(name => name.endsWith(ending))
      .map(name => {
        const file = `vercel-ai/${provider}/${name}`
        return { file, provider, text: readFileSync(join(recordingsDir, file), 'utf8') }
      }),
  )

export const bodyText = ({ json, text, base64 }: RecordedBody): string =>
  text ??
  (base64 === undefined
    ? json === undefined
      ? ''
      : JSON.stringify(json)
    : Buffer.from(base64, 'base64').toString())
