import { createHash } from 'node:crypto'
import type { Catalogue, ModelFilter } from '../models/catalogue.ts'
import type { Model } from '../models/model.ts'
import { toListedModel } from './listed-model.ts'

export type ModelSource = {
  /** The one in force. */
  catalogue: () => Catalogue
  markupBasisPoints: number
}

/** The catalogue as JSON text, each model written once per catalogue: the list is long and asked for by anybody. */
export class ModelTexts {
  readonly #source: ModelSource
  #catalogue: Catalogue | null = null
  #revision = 0
  #digest = ''
  #texts = new Map<Model, string>()

  constructor(source: ModelSource) {
    this.#source = source
  }

  list(filter: ModelFilter): string {
    const catalogue = this.#renew()
    const texts = catalogue.list(filter).map(model => this.#texts.get(model) ?? this.#write(model))
    return `{"object":"list","data":[${texts.join(',')}]}`
  }

  one(model: Model): string {
    this.#renew()
    // A dated name of a model is not listed, and there are too many to keep.
    return this.#texts.get(model) ?? this.#write(model)
  }

  /** Weak, since it stands for the models and not for bytes. `selection`: what was asked of the catalogue. */
  etag(selection: string): string {
    this.#renew()
    return `W/"${digest(`${this.#digest} ${selection}`)}"`
  }

  #renew(): Catalogue {
    const catalogue = this.#source.catalogue()
    if (this.#catalogue === catalogue && this.#revision === catalogue.revision) return catalogue
    this.#texts = new Map(
      catalogue.list({ all: true }).map(model => [model, this.#write(model)] as const),
    )
    this.#digest = digest([...this.#texts.values()].join())
    this.#catalogue = catalogue
    this.#revision = catalogue.revision
    return catalogue
  }

  #write(model: Model): string {
    return JSON.stringify(toListedModel(model, this.#source.markupBasisPoints))
  }
}

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22)
