import { readEnvelope } from "./envelope.ts";

/** The most heads to remember. They take about 3 KB each. */
const MAX_HEADS = 512;

type ReadHead = NonNullable<ReturnType<typeof readEnvelope>>;

/**
 * The heads of envelopes that were read last, with the texts that they were read from. The same text under the same key
 * is the same head, and with it the fields of its hits, so that a busy page that memory does not hold is parsed once.
 */
export class RecentHeads {
  readonly #heads = new Map<string, { readonly text: string; readonly read: ReadHead }>();

  /** Reads the head of an envelope, like `readEnvelope`. */
  read(key: string, text: string | null): ReadHead | undefined {
    if (text === null) return undefined;
    const held = this.#heads.get(key);
    if (held?.text === text) return held.read;
    const read = readEnvelope(key, text);
    if (!read) return undefined;
    this.#heads.delete(key);
    this.#heads.set(key, { text, read });
    if (this.#heads.size > MAX_HEADS) this.#heads.delete(this.#heads.keys().next().value!);
    return read;
  }
}
