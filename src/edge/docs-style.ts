/** How the documentation looks: light or dark as the reader's system is, from 320 px up. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --raised: #f6f7f9; --line: #e3e6ec; --text: #1b2130; --soft: #566074;
  --accent: #3b4bdb; --accent-soft: #eceefd; --get: #0b7a4b; --get-soft: #e2f5eb; --post: #3b4bdb; --post-soft: #e8eafc;
  --warn: #a8410a; --code: #0f1524; --code-line: #232b40; --code-text: #dfe5f2; --code-soft: #8f9bb5;
  --string: #9fdcae; --key: #9fc2ff; --word: #d7a9ff; --number: #ffca85;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0c1019; --raised: #141a27; --line: #232b3c; --text: #e5e9f2; --soft: #9aa5bb;
    --accent: #95a3ff; --accent-soft: #1c2340; --get: #62d39c; --get-soft: #10301f; --post: #9aa8ff; --post-soft: #1d2446;
    --warn: #ffab70; --code: #121826; --code-line: #263049;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { scroll-padding-top: 24px; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.6 var(--sans); }
a { color: var(--accent); text-underline-offset: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font-family: var(--mono); font-size: .875em; }
:not(pre) > code { background: var(--raised); border: 1px solid var(--line); border-radius: 5px; padding: .1em .35em; overflow-wrap: anywhere; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 12px; z-index: 9; background: var(--page); padding: 8px 12px; }

.side { position: fixed; inset: 0 auto 0 0; width: 264px; padding: 28px 20px 40px 28px; overflow-y: auto; border-right: 1px solid var(--line); background: var(--page); }
.brand { display: flex; align-items: center; gap: 10px; color: var(--text); text-decoration: none; font-weight: 650; font-size: 18px; letter-spacing: -.01em; }
.brand svg { fill: var(--accent); }
.brand small { margin-left: auto; font: 12px var(--mono); color: var(--soft); border: 1px solid var(--line); border-radius: 99px; padding: 1px 8px; }
.side h2 { font-size: 12px; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 28px 0 6px; }
.side ul { list-style: none; margin: 0; padding: 0; }
.side li a { display: flex; align-items: baseline; gap: 8px; padding: 4px 8px; margin-left: -8px; border-radius: 6px; color: var(--text); text-decoration: none; font-size: 14.5px; }
.side li a:hover { background: var(--raised); }
.menu { display: none; }

main { margin-left: 264px; padding: 0 56px 80px; }
main > * { max-width: 1180px; }
.hero { padding: 64px 0 40px; }
.eyebrow { margin: 0; color: var(--accent); font-weight: 600; font-size: 14px; }
h1 { font-size: clamp(30px, 4.4vw, 44px); line-height: 1.15; letter-spacing: -.025em; margin: 10px 0 28px; max-width: 19em; text-wrap: balance; }
.facts { display: flex; flex-wrap: wrap; gap: 12px 48px; margin: 0; }
.facts dt { font-size: 13px; color: var(--soft); }
.facts dd { margin: 2px 0 0; font-size: 15px; }
section { padding: 44px 0 12px; border-top: 1px solid var(--line); }
section h2 { font-size: 25px; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 12px; }
section h2 a { color: inherit; text-decoration: none; }
section h2 a:hover::after { content: " #"; color: var(--soft); }
section h3 { font-size: 17px; margin: 32px 0 8px; }
.guide > p, .guide > ul, .guide > h3 { max-width: 44em; }
.guide > .code { max-width: 820px; }
p { margin: 0 0 14px; }
ul { padding-left: 1.2em; margin: 0 0 14px; }
ul li + li { margin-top: 8px; }

.operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 480px); gap: 48px; }
.samples { position: sticky; top: 24px; align-self: start; }
.samples pre { max-height: max(240px, calc(50vh - 90px)); }
.route { display: flex; flex-wrap: wrap; align-items: center; gap: 10px; margin-bottom: 18px; }
.route > code { background: none; border: 0; padding: 0; font-size: 15px; }
.auth { margin-left: auto; font-size: 13px; color: var(--soft); }
.method { display: inline-block; font: 600 11px/1.7 var(--mono); padding: 0 6px; border-radius: 5px; }
.get { color: var(--get); background: var(--get-soft); }
.post { color: var(--post); background: var(--post-soft); }

dl { margin: 0; }
.field { padding: 11px 0; border-top: 1px solid var(--line); }
.field:first-child { border-top: 0; }
.field dt { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 10px; }
.field dt code { background: none; border: 0; padding: 0; font-weight: 600; }
.field dd { margin: 0; font-size: 15px; color: var(--soft); }
.field dd p { margin: 3px 0 0; }
.type { font-size: 13px; color: var(--soft); }
.required { font-size: 12px; font-weight: 600; color: var(--warn); }
.values { font-size: 14px; line-height: 1.9; }
summary { cursor: pointer; font-size: 14px; font-weight: 550; color: var(--accent); width: fit-content; padding: 2px 0; }
.field details dl, .shape > dl, .shape > table { margin-top: 8px; padding: 2px 14px; border: 1px solid var(--line); border-radius: 8px; }
.shape { padding: 9px 0; border-top: 1px solid var(--line); }
table { width: 100%; border-collapse: collapse; font-size: 14.5px; }
th, td { text-align: left; vertical-align: top; padding: 9px 14px 9px 0; border-top: 1px solid var(--line); }
thead th { border: 0; font-size: 13px; color: var(--soft); font-weight: 550; }
.shape > table { display: block; }
.shape tr:first-child > * { border-top: 0; }
.shape td { line-height: 1.9; }
.errors td:first-child { font-family: var(--mono); font-size: 13.5px; color: var(--soft); }
.errors td:nth-child(2) code { white-space: nowrap; }
.errors tr:target { background: var(--accent-soft); }
.metadata code { font-size: 12px; color: var(--soft); }
.no { color: var(--soft); }
.wide { overflow-x: auto; max-width: 1000px; margin-top: 24px; }

.code { background: var(--code); border: 1px solid var(--code-line); border-radius: 10px; margin: 0 0 18px; overflow: hidden; color: var(--code-text); }
pre { margin: 0; padding: 16px 18px; overflow-x: auto; line-height: 1.6; tab-size: 2; max-height: 560px; }
pre code { font-size: 13px; }
.tabs { display: flex; flex-wrap: wrap; }
.tabs > input { position: absolute; opacity: 0; pointer-events: none; }
.tabs > label { order: 0; padding: 9px 14px 8px; font-size: 13px; color: var(--code-soft); border-bottom: 2px solid transparent; cursor: pointer; }
.tabs > label:hover { color: var(--code-text); }
.tabs > div { order: 1; width: 100%; display: none; border-top: 1px solid var(--code-line); }
.tabs > input:checked + label { color: #fff; border-color: #95a3ff; }
.tabs > input:focus-visible + label { outline: 2px solid #95a3ff; outline-offset: -3px; border-radius: 6px; }
.tabs > input:nth-of-type(1):checked ~ div:nth-of-type(1),
.tabs > input:nth-of-type(2):checked ~ div:nth-of-type(2),
.tabs > input:nth-of-type(3):checked ~ div:nth-of-type(3) { display: block; }
.string { color: var(--string); } .key { color: var(--key); } .word { color: var(--word); } .number { color: var(--number); } .comment { color: var(--code-soft); }
footer { margin-top: 48px; padding-top: 24px; border-top: 1px solid var(--line); color: var(--soft); font-size: 14px; }

@media (max-width: 1180px) {
  main { padding: 0 40px 64px; }
  .operation { grid-template-columns: minmax(0, 1fr); gap: 16px; }
  .samples { position: static; }
  .samples pre { max-height: 420px; }
}
@media (max-width: 860px) {
  html { scroll-padding-top: 72px; }
  .side { position: sticky; top: 0; z-index: 5; width: auto; padding: 12px 20px; border-right: 0; border-bottom: 1px solid var(--line); display: flex; align-items: center; gap: 16px; overflow: visible; }
  .brand { flex: 1; }
  .brand small { margin-left: 0; }
  .tree { display: none; }
  .menu { display: block; }
  .menu > summary { padding: 6px 12px; border: 1px solid var(--line); border-radius: 8px; color: var(--text); list-style: none; }
  .menu > summary::-webkit-details-marker { display: none; }
  .menu nav { position: absolute; left: 0; right: 0; top: 100%; max-height: 75vh; overflow-y: auto; padding: 0 20px 24px; background: var(--page); border-bottom: 1px solid var(--line); }
  .menu li a { padding: 8px; }
  main { margin: 0; padding: 0 20px 48px; }
  .hero { padding: 36px 0 28px; }
  section { padding-top: 34px; }
  .auth { margin-left: 0; width: 100%; }
  .facts { gap: 14px; flex-direction: column; }
  .errors, .errors tbody, .errors tr, .errors td { display: block; }
  .errors thead { display: none; }
  .errors tr { padding: 12px 0; border-top: 1px solid var(--line); }
  .errors td { border: 0; padding: 1px 0; }
  .errors td:first-child, .errors td:nth-child(2) { display: inline-block; margin-right: 10px; }
  .errors td:last-child::before { content: "Try again: "; color: var(--soft); }
}
`

/** The icon of the page. */
export const docsIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#4757e6"><rect x="3" y="8" width="6" height="20" rx="2"/><path d="M9 12 29 5v5L9 17z"/><circle cx="6" cy="6" r="3"/></svg>'
