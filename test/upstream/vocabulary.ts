/**
 * Words that OpenAI's o200k tokeniser counts as one token each, at the start of a text and after a blank. An answer
 * made of them has as many tokens as words, whoever counts: the upstream, the gateway or the test.
 */
export const vocabulary = (
  'gate road bridge ticket coin wagon river market stone horse wheel letter garden window winter summer silver ' +
  'bread water fire travel paper forest engine signal doctor teacher music color number circle castle planet ' +
  'rocket orange banana rabbit coffee hammer basket mirror'
).split(' ')

/** Words `from` to `from + count - 1` of the endless text; every word but the text's first has a blank before it. */
export const words = (from: number, count: number): string => {
  let text = ''
  for (let at = from; at < from + count; at++) {
    text += `${at === 0 ? '' : ' '}${vocabulary[at % vocabulary.length]}`
  }
  return text
}

/** Tokens of a text, or of a part of one that was cut between chunks, made by `words`. */
export const countWords = (text: string): number =>
  text.split(' ').filter(word => word !== '').length
