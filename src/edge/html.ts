/** Text that may stand in HTML as it is. Made by `html`, `escaped` and `joined` only. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escaped = (text: string): Html =>
  new Html(text.replace(/[&<>"']/g, sign => entities[sign] ?? sign))

export const joined = (parts: readonly Html[], between = ''): Html =>
  new Html(parts.map(({ text }) => text).join(between))

export const nothing = new Html('')

/** Whatever is put into it is escaped, unless it is `Html` already. */
export const html = (
  pieces: TemplateStringsArray,
  ...values: readonly (Html | string | number)[]
): Html => {
  let text = pieces[0] ?? ''
  for (const [index, value] of values.entries()) {
    text += value instanceof Html ? value.text : escaped(String(value)).text
    text += pieces[index + 1] ?? ''
  }
  return new Html(text)
}
