/** The little Markdown that our own descriptions are written in, as HTML: headings, paragraphs, lists, code. */
import { type Code, codeTabs } from './code-block.ts'
import { type Html, html, joined } from './html.ts'

/** `code`, **strong** and plain text. */
export const inline = (text: string): Html =>
  joined(
    text
      .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
      .map(part =>
        part.startsWith('`')
          ? html`<code>${part.slice(1, -1)}</code>`
          : part.startsWith('**')
            ? html`<strong>${part.slice(2, -2)}</strong>`
            : html`${part}`,
      ),
  )

/** `The abort policy` → `the-abort-policy` */
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

const fence = /^```(\w*)\n([\s\S]*?)\n?```$/

/** Split at blank lines, except inside code. */
const blocksOf = (markdown: string): string[] =>
  markdown.match(/```\w*\n[\s\S]*?```|(?:(?!```)[^\n]+\n?)+/g)?.map(block => block.trim()) ?? []

const codeOf = (block: string): Code | undefined => {
  const [, language = '', text] = fence.exec(block) ?? []
  return text === undefined ? undefined : { language, text }
}

const textBlock = (block: string): Html => {
  if (block.startsWith('### ')) {
    const title = block.slice(4)
    return html`<h3 id="${slug(title)}">${title}</h3>`
  }
  if (block.startsWith('- ')) {
    const items = block.split('\n').map(line => html`<li>${inline(line.slice(2))}</li>`)
    return html`<ul>${joined(items)}</ul>`
  }
  return html`<p>${inline(block)}</p>`
}

/** `id` starts the ids of its code blocks; code blocks that follow each other share tabs. */
export const prose = (id: string, markdown: string): Html => {
  const out: Html[] = []
  let codes: Code[] = []
  const flush = () => {
    if (codes.length > 0) out.push(codeTabs(`${id}-${out.length}`, codes))
    codes = []
  }
  for (const block of blocksOf(markdown)) {
    const code = codeOf(block)
    if (code) codes.push(code)
    else {
      flush()
      out.push(textBlock(block))
    }
  }
  flush()
  return joined(out)
}

export type Section = { id: string; title: string; body: string }

/** What stands below each `## ` heading. */
export const sectionsOf = (markdown: string): Section[] =>
  markdown
    .split(/^## /m)
    .slice(1)
    .map(text => {
      const [title = '', ...lines] = text.split('\n')
      return { id: slug(title), title, body: lines.join('\n') }
    })
