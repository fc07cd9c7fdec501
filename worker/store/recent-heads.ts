import { readEnvelope } from "./envelope.ts";

/** The most heads to remember. They take about 3 KB each. */
const MAX_HEADS = 512;
/** The most characters of their texts in all. A head with many tags takes about three bytes for each. */
const MAX_CHARACTERS = 2_000_000;

type ReadHead = NonNullable<ReturnType<typeof readEnvelope>>;

/**
 * The heads of envelopes that were read last, with the texts that they were read from. The same text under the same key
 * is the same head, and with it the fields of its hits, so that a busy page that memory does not hold is parsed once.
 */
export class RecentHeads {
  readonly #heads = new Map<string, { readonly text: string; readonly read: ReadHead }>();
  #characters = 0;

  /** Reads the head of an envelope, like `readEnvelope`. */
  read(key: string, text: string | null): ReadHead | undefined {
    if (text === null) return undefined;
    const held = this.#heads.get(key);
    if (held?.text === text) return held.read;
    const read = readEnvelope(key, text);
    if (!read) return undefined;
    this.#forget(key);
    this.#heads.set(key, { text, read });
    this.#characters += text.length;
    while (this.#heads.size > MAX_HEADS || this.#characters > MAX_CHARACTERS) {
      this.#forget(this.#heads.keys().next().value!);
    }
    return read;
  }

  #forget(key: string): void {
    this.#characters -= this.#heads.get(key)?.text.length ?? 0;
    this.#heads.delete(key);
  }
}
