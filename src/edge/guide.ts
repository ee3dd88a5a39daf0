import { exampleModel } from '../wire/example.ts'

/** Stands for the base URL in everything described; replaced when it is served. */
export const baseUrlMark = '{base_url}'

const quickStart = `## Quick start

Point any SDK for chat completions at the base URL below, with a key of this gateway. The model \`${exampleModel}\` needs no provider.

\`\`\`curl
curl -N ${baseUrlMark}/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${exampleModel}",
    "stream": true,
    "messages": [{"role": "user", "content": "Hello!"}]
  }'
\`\`\`

\`\`\`javascript
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${baseUrlMark}',
  apiKey: process.env.TOLLGATE_API_KEY,
})

const stream = await client.chat.completions.create({
  model: '${exampleModel}',
  messages: [{ role: 'user', content: 'Hello!' }],
  stream: true,
})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '')
}
\`\`\`

\`\`\`python
import os
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrlMark}",
    api_key=os.environ["TOLLGATE_API_KEY"],
)

stream = client.chat.completions.create(
    model="${exampleModel}",
    messages=[{"role": "user", "content": "Hello!"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")
\`\`\``

const authentication = `## Authentication

Send your key with every request:

\`\`\`http
Authorization: Bearer <API_KEY>
\`\`\`

A key starts with \`tg_\`, belongs to one account and spends its balance. It is shown once, when it is made; the gateway keeps only its hash. Keep it out of browsers and repositories. A key that is disabled or revoked is refused from the very next request on.

Every \`401\` carries \`WWW-Authenticate: Bearer realm="tollgate"\`, and says which of the reasons in the table of errors it was.`

const models = `## Models

A model id reads \`<provider>/<model_name>\`; the name may hold slashes and colons of its own. \`GET /models\` lists what this gateway serves, with the price you pay. An answer names the model and the provider that served it.`

const streaming = `## Streaming

With \`"stream": true\` the answer comes as server-sent events: frames of \`data: {json}\`, sent on as they arrive.

- The last chunk before \`data: [DONE]\` has \`choices: []\` and the \`usage\` with its \`cost\`, whether you asked for it or not. The charge is durable before you see it.
- A line \`: tollgate\` is a comment that keeps the connection open while a model thinks. Parsers of events skip it.
- A failure before the first byte is an ordinary HTTP error. After it, one chunk carries a top-level \`error\` and \`finish_reason: "error"\`, and the stream ends **without** \`[DONE]\`.
- When the balance is used up on the way, the answer ends with \`finish_reason: "length"\` and \`native_finish_reason: "insufficient_credits"\`.

\`\`\`http
data: {"id":"gen-01jd8m2f7x9v4h", …, "choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}

: tollgate

data: {"id":"gen-01jd8m2f7x9v4h", …, "choices":[{"index":0,"delta":{"content":"lo!"},"finish_reason":"stop"}]}

data: {"id":"gen-01jd8m2f7x9v4h", …, "choices":[],"usage":{"total_tokens":13,"cost":0.000019, …}}

data: [DONE]
\`\`\``

const billing = `## Billing

Every request is paid from a prepaid balance, exactly once.

- Before anything is sent to a provider, the most that the request can cost is **held**. Name \`max_completion_tokens\` and the hold is small; where the balance does not cover it you get a \`402\` with the figures.
- When the answer ends, the hold is replaced by the **charge**: tokens of each class times their rate, rounded once. Whoever saw \`[DONE]\` or the last byte was charged once, durably.
- \`GET /generation\` has the receipt: usage, rates, charge, attempts. \`GET /credits\` has the balance.

### The abort policy

- **You leave early.** The provider is stopped at once. You pay for the usage that the provider reported; where it reported none, for the input counted plus the output delivered, marked \`estimated\`: never less than what you received, never more than what the provider sent.
- **Nothing was delivered and no usage was reported.** You pay nothing. Error text is never output.
- **Failed attempts, retries and fallbacks** cost you nothing: you pay the price of the model that answered.
- **The provider reports no usage.** The gateway counts with a tokeniser and marks the answer \`estimated\`.
- **The gateway crashes.** You pay for the usage at the last checkpoint at most, and never above the evidence.`

const errors = `## Errors

Every failure has one shape, which the SDKs of OpenAI read. Act on \`code\`; \`metadata\` has what a program needs.

\`\`\`json
{
  "error": {
    "message": "This request may cost up to $0.0164, and $0.0021 is available. Add credit, or ask for fewer tokens.",
    "type": "billing_error",
    "param": null,
    "code": "insufficient_credits",
    "metadata": { "balance": "0.0021", "held": "0", "required": "0.0164", "affordable_max_tokens": 512 }
  }
}
\`\`\`

\`x-should-retry: false\` marks what an SDK would retry in vain. \`Retry-After\` says when to try again. \`X-Request-Id\` is on every response: name it when you ask for help.`

/** What there is to know beside the single operations, as Markdown. */
export const guide = [quickStart, authentication, models, streaming, billing, errors].join('\n\n')
