import { Counter, type CounterConfiguration } from 'prom-client'

/**
 * A counter that adds up plain numbers and hands them to prom-client only when somebody reads the metrics: on the path
 * of a request the library's look-up of label sets costs several times what the count itself does.
 */
export class Tally<Label extends string> {
  readonly #pending = new Map<string, { labels: Record<Label, string>; count: number }>()

  constructor(configuration: CounterConfiguration<Label>) {
    const pending = this.#pending
    new Counter<Label>({
      ...configuration,
      collect() {
        for (const { labels, count } of pending.values()) this.inc(labels, count)
        pending.clear()
      },
    })
  }

  /** `key` names the set of labels; `labels` is only asked for one that is new since the last reading. */
  add(key: string, labels: () => Record<Label, string>, count = 1): void {
    const known = this.#pending.get(key)
    if (known) known.count += count
    else this.#pending.set(key, { labels: labels(), count })
  }
}
