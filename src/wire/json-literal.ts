/** String literals inside JSON text, so that a piece of text can be passed on without being parsed and written anew. */

const quote = 0x22
const backslash = 0x5c

/**
 * Index just past the JSON string literal that starts at `at`, -1 where there is none, or one that needs a closer look:
 * `\u` escapes are left to the parser.
 */
export const literalEnd = (text: string, at: number): number => {
  if (text.charCodeAt(at) !== quote) return -1
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) return i + 1
    if (code < 0x20) return -1
    if (code === backslash) {
      i++
      if (!'"\\/bfnrt'.includes(text.charAt(i))) return -1
    }
  }
  return -1
}

/** The text of a literal that `literalEnd` has accepted. */
export const literalText = (literal: string): string =>
  // `as`: a string literal by that check.
  literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)

/** Whether nothing follows but the closing of so many objects; some servers pad their events with spaces. */
export const closes = (text: string, from: number, objects: number): boolean => {
  let closed = 0
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x7d) closed++
    else if (code !== 0x20) return false
  }
  return closed === objects
}
