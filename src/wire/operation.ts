/**
 * How one operation of the public contract is described, beside the code that serves it and with the schemas that
 * validate it. What a description becomes (OpenAPI, a page for people) is decided elsewhere.
 */
import type { z } from 'zod'

/** A shape that is described once, under a name. */
export type NamedShape = { readonly name: string; readonly schema: z.ZodType }

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: z.ZodType
  readonly description: string
}

export type Answer = {
  readonly description: string
  readonly contentType: string
  /** `null` where it is text. */
  readonly shape: NamedShape | null
  /** A value of `shape`, or text as it goes over the wire. */
  readonly example: unknown
}

/** `Code`: what a failure is called in the catalogue. */
export type Operation<Code extends string = string> = {
  /** Unique; `createChatCompletion`. */
  readonly id: string
  readonly method: 'get' | 'post'
  /** Below the base URL; parameters in braces. */
  readonly path: string
  /** What it is listed under. */
  readonly group: string
  readonly title: string
  /** Markdown: paragraphs, lists, `code`. */
  readonly description: string
  readonly auth: 'apiKey' | 'operator' | 'none'
  readonly parameters?: readonly Parameter[]
  readonly body?: { readonly shape: NamedShape; readonly example: unknown }
  readonly answer: Answer
  /** The other way to answer the same request: by events. */
  readonly stream?: Answer
  /** Response headers of its own, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>
  /** What it can be refused with. */
  readonly refusals: readonly Code[]
}
