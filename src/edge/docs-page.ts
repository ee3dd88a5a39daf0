/** The documentation as one page for people, rendered from the OpenAPI document. No script, no style of its own. */
import { codeTabs } from './code-block.ts'
import { baseUrlMark } from './guide.ts'
import { Html, html, joined, nothing } from './html.ts'
import type { ErrorRow, OpenApiDocument, OpenApiOperation } from './openapi.ts'
import { inline, prose, type Section, sectionsOf } from './prose.ts'
import { fieldList, fieldRow, type Schemas } from './shape-list.ts'

type Described = { method: string; path: string; operation: OpenApiOperation }

const operationsOf = ({ paths }: OpenApiDocument): Described[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )

/** Guides that come after the reference. */
const isAfter = ({ id }: Section): boolean => id === 'billing' || id === 'errors'

/** The base URL stands in it as `baseUrlMark`. `styleUrl` and `iconUrl` are paths of this gateway. */
export const renderDocs = (
  document: OpenApiDocument,
  { styleUrl, iconUrl }: { styleUrl: string; iconUrl: string },
): string => {
  const sections = sectionsOf(document.info.description)
  const operations = operationsOf(document)
  const { schemas } = document.components
  const before = sections.filter(section => !isAfter(section))
  const after = sections.filter(isAfter)
  const groups = document.tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }))
  const guideOf = (section: Section) =>
    renderSection(section, section.id === 'errors' ? errorTable(document['x-errors']) : nothing)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${document.info.summary}">
<title>Tollgate API</title>
<link rel="stylesheet" href="${styleUrl}">
<link rel="icon" type="image/svg+xml" href="${iconUrl}">
</head>
<body>
<a class="skip" href="#main">To the content</a>
${sidebar(document, before, groups, after)}
<main id="main">
${hero(document)}
${joined(before.map(guideOf))}
${joined(groups.flatMap(group => group.operations.map(each => renderOperation(each, schemas))))}
${joined(after.map(guideOf))}
<footer>Tollgate ${document.info.version}. The same as a document for programs: <a href="/openapi.json">openapi.json</a></footer>
</main>
</body>
</html>
`.text
}

type Group = { name: string; operations: Described[] }

const sidebar = (
  { info }: OpenApiDocument,
  before: readonly Section[],
  groups: readonly Group[],
  after: readonly Section[],
): Html => {
  const link = (id: string, title: Html | string) => html`<li><a href="#${id}">${title}</a></li>`
  const guides = (title: string, sections: readonly Section[]) =>
    html`<h2>${title}</h2><ul>${joined(sections.map(section => link(section.id, section.title)))}</ul>`
  const reference = groups.map(
    ({ name, operations }) =>
      html`<h2>${name}</h2><ul>${joined(
        operations.map(({ method, operation }) =>
          link(operation.operationId, html`${badge(method)}${operation.summary}`),
        ),
      )}</ul>`,
  )
  const menu = html`${guides('Guide', before)}${joined(reference)}${guides('Money and errors', after)}`
  return html`<header class="side">
<a class="brand" href="#main">${logo}<span>Tollgate</span><small>${info.version}</small></a>
<details class="menu"><summary>Menu</summary><nav aria-label="Contents">${menu}</nav></details>
<nav class="tree" aria-label="Contents">${menu}</nav>
</header>`
}

const logo = html`<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect x="3" y="8" width="6" height="20" rx="2"/><path d="M9 12 29 5v5L9 17z"/><circle cx="6" cy="6" r="3"/></svg>`

const hero = ({ info }: OpenApiDocument): Html => html`<div class="hero">
<p class="eyebrow">API reference</p>
<h1>${info.summary}</h1>
<dl class="facts"><div><dt>Base URL</dt><dd><code>${baseUrlMark}</code></dd></div><div><dt>Speaks</dt><dd>Chat completions, as the SDKs of OpenAI send them</dd></div><div><dt>For programs</dt><dd><a href="/openapi.json">OpenAPI 3.1</a></dd></div></dl>
</div>`

const heading = (id: string, title: string): Html => html`<h2><a href="#${id}">${title}</a></h2>`

const renderSection = ({ id, title, body }: Section, more: Html): Html =>
  html`<section class="guide" id="${id}">${heading(id, title)}${prose(id, body)}${more}</section>`

const badge = (method: string): Html =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`

const renderOperation = ({ method, path, operation }: Described, schemas: Schemas): Html => {
  const { operationId: id, summary, description, security } = operation
  const [scheme] = security.flatMap(each => Object.keys(each))
  const auth = scheme === undefined ? 'No key needed' : `Needs ${credentials[scheme] ?? scheme}`
  return html`<section class="operation" id="${id}">
<div class="about">
${heading(id, summary)}
<p class="route">${badge(method)}<code>${path}</code><span class="auth">${auth}</span></p>
${prose(id, description)}
${body(operation, schemas)}
${parameters(operation, schemas)}
${answers(operation, schemas)}
</div>
<div class="samples">${samples(method, path, operation)}</div>
</section>`
}

const credentials: Readonly<Record<string, string>> = {
  apiKey: 'an API key',
  operator: 'the operator’s token',
}

const parameters = ({ parameters: given = [] }: OpenApiOperation, schemas: Schemas): Html => {
  const titles: readonly (readonly [string, string])[] = [
    ['path', 'In the path'],
    ['query', 'In the query'],
    ['header', 'Headers'],
  ]
  return joined(
    titles.map(([place, title]) => {
      const rows = given.filter(each => each.in === place)
      if (rows.length === 0) return nothing
      return html`<h3>${title}</h3><dl>${joined(rows.map(row => fieldRow(row, { schemas, of: 'request' })))}</dl>`
    }),
  )
}

const body = ({ requestBody }: OpenApiOperation, schemas: Schemas): Html => {
  const schema = requestBody?.content['application/json']?.schema
  return schema === undefined
    ? nothing
    : html`<h3>Body</h3>${fieldList(schema, { schemas, of: 'request' })}`
}

const answers = ({ responses, requestBody }: OpenApiOperation, schemas: Schemas): Html => {
  const { 200: answer, ...refusals } = responses
  const shapes = Object.entries(answer?.content ?? {}).filter(([, { schema }]) => schema.$ref)
  // Where there is no body, the fields of the answer are what one came for.
  const open = new Html(requestBody === undefined ? ' open' : '')
  const title = (type: string) =>
    type === 'text/event-stream' ? 'Fields of an event' : 'Fields of the answer'
  return html`<h3>Answer</h3><p>${inline(answer?.description ?? '')}</p>
${joined(
  shapes.map(
    ([type, { schema }]) =>
      html`<details class="shape"${open}><summary>${title(type)}</summary>${fieldList(schema, { schemas, of: 'answer' })}</details>`,
  ),
)}
${headers(answer?.headers ?? {})}
<details class="shape"><summary>Refusals</summary><table><tbody>${joined(
    Object.entries(refusals).map(
      ([status, { description }]) =>
        html`<tr><th scope="row">${status}</th><td>${inline(description)}</td></tr>`,
    ),
  )}</tbody></table></details>`
}

const headers = (given: Readonly<Record<string, { description: string }>>): Html =>
  html`<details class="shape"><summary>Headers of the answer</summary><dl>${joined(
    Object.entries(given).map(
      ([name, { description }]) =>
        html`<div class="field"><dt><code>${name}</code></dt><dd><p>${inline(description)}</p></dd></div>`,
    ),
  )}</dl></details>`

const samples = (method: string, path: string, operation: OpenApiOperation): Html => {
  const { operationId: id, requestBody, responses } = operation
  const request = requestBody?.content['application/json']?.example
  const answer = Object.entries(responses['200']?.content ?? {}).map(([type, { example }]) => ({
    title: type === 'text/event-stream' ? 'Streamed' : 'Answer',
    language: typeof example === 'string' ? 'http' : 'json',
    text: typeof example === 'string' ? example.trim() : JSON.stringify(example, null, 2),
  }))
  const curl = {
    title: 'Request',
    language: 'curl',
    text: curlOf(method, path, operation, request),
  }
  return html`${codeTabs(`${id}-request`, [curl])}${codeTabs(`${id}-answer`, answer)}`
}

const curlOf = (
  method: string,
  path: string,
  { security, parameters: given = [] }: OpenApiOperation,
  request: unknown,
): string => {
  const query = given.some(each => each.in === 'query' && each.required)
    ? '?id=gen-01jd8m2f7x9v4h'
    : ''
  const url = `${baseUrlMark}${path.replace('{model}', 'demo/tollgate')}${query}`
  const lines = [`curl ${url.includes('?') ? `"${url}"` : url}`]
  if (security.length > 0) {
    const variable = security[0]?.['operator'] ? 'METRICS_TOKEN' : 'TOLLGATE_API_KEY'
    lines.push(`-H "Authorization: Bearer $${variable}"`)
  }
  if (method === 'post') {
    lines.push('-H "Content-Type: application/json"')
    lines.push(`-d '${JSON.stringify(request, null, 2).replaceAll('\n', '\n  ')}'`)
  }
  return lines.join(' \\\n  ')
}

const errorTable = (
  rows: readonly ErrorRow[],
): Html => html`<div class="wide"><table class="errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">What it means</th><th scope="col">Try again</th></tr></thead>
<tbody>${joined(
  rows.map(
    ({ status, code, meaning, metadata, passes }) =>
      html`<tr id="error-${code}"><td>${status}</td><td><code>${code}</code></td><td>${inline(meaning)}${
        metadata === undefined
          ? nothing
          : html` <span class="metadata">${joined(
              Object.keys(metadata).map(name => html`<code>${name}</code>`),
              ' ',
            )}</span>`
      }</td><td>${passes ? 'later' : html`<span class="no">no</span>`}</td></tr>`,
  ),
)}</tbody></table></div>`
