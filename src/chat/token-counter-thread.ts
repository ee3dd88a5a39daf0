import { parentPort } from 'node:worker_threads'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** Longest run handed to the tokeniser at once: its cost grows with the square of an unbroken run. */
const sliceLength = 2_000

/** Text that looks like a special token is text: nobody can switch the tokeniser's own signs through an answer. */
const plainText = { disallowedSpecial: new Set<string>() }

/** Cuts before a space where there is one, since no token of o200k spans from a word into the next blank. */
const countInSlices = (text: string): number => {
  let tokens = 0
  let start = 0
  while (start < text.length) {
    let end = Math.min(start + sliceLength, text.length)
    if (end < text.length) {
      const blank = text.lastIndexOf(' ', end)
      if (blank > start) end = blank
    }
    tokens += countTokens(text.slice(start, end), plainText)
    start = end
  }
  return tokens
}

parentPort?.on('message', ({ id, text }: { id: number; text: string }) => {
  parentPort?.postMessage({ id, tokens: countInSlices(text) })
})
