import { escaped, Html, html, joined, nothing } from './html.ts'

export type Code = { language: string; text: string }

const words =
  /\b(?:import|from|const|new|await|for|of|in|if|print|or|as|true|false|null|None|True|curl|data|event)\b/
const tokens = new RegExp(
  [
    /(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*')/.source,
    /(?<comment>^: \w+$)/.source,
    `(?<word>${words.source})`,
    /(?<number>\b\d+(?:\.\d+)?\b)/.source,
  ].join('|'),
  'gm',
)

/** Colours for the few languages of the documentation; what it does not know stays plain. */
const coloured = ({ language, text }: Code): Html => {
  if (language === 'text') return escaped(text)
  const parts: Html[] = []
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? []
    parts.push(escaped(text.slice(end, match.index)))
    const isKey = kind === 'string' && /^\s*:/.test(text.slice(match.index + match[0].length))
    parts.push(html`<span class="${isKey ? 'key' : (kind ?? '')}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return joined([...parts, escaped(text.slice(end))])
}

const names: Readonly<Record<string, string>> = {
  curl: 'curl',
  javascript: 'JavaScript',
  python: 'Python',
  json: 'JSON',
  http: 'HTTP',
}

const block = (code: Code): Html => html`<pre tabindex="0"><code>${coloured(code)}</code></pre>`

/** One block, or several behind tabs, which work without a script. `id` is unique on the page. */
export const codeTabs = (id: string, codes: readonly (Code & { title?: string })[]): Html => {
  const [only] = codes
  if (only === undefined) return nothing
  const heads = codes.map(({ title, language }, index) => {
    const name = title ?? names[language] ?? language
    const checked = index === 0 ? new Html(' checked') : nothing
    return html`<input type="radio" name="${id}" id="${id}-${index}"${checked}><label for="${id}-${index}">${name}</label>`
  })
  if (codes.length === 1 && only.title === undefined)
    return html`<div class="code">${block(only)}</div>`
  return html`<div class="code tabs">${joined(heads)}${joined(codes.map(code => html`<div>${block(code)}</div>`))}</div>`
}
