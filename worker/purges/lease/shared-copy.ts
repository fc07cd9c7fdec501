import { ITEM_WORDS, type ViewDelta } from "../log/log-contract.ts";
import type { Sighting } from "../view/first-seen.ts";

/** One isolate's knowledge of the log, shared with the other isolates of its PoP (R22). */
export interface SharedCopy {
  /** When the read of the log began, by the clock of the isolate that read: epoch milliseconds. */
  readonly startedAt: number;
  /**
   * The longest view age that the read named to the log (R6), in milliseconds: the lease, or more if a route allows it.
   */
  readonly longestViewAgeMs: number;
  readonly delta: ViewDelta;
  /** When the purges were made that make pages stale, by the same clock. */
  readonly sightings: readonly Sighting[];
}

/** Copies of other versions are not read, because isolates of several versions run side by side during a deployment. */
const VERSION = 2;
/** The version, the bytes of the text, and the words of the items. */
const LEAD_WORDS = 3;
const WORD_BYTES = Uint32Array.BYTES_PER_ELEMENT;

/** Writes the items as they are, followed by everything else as JSON. */
export function writeCopy({ delta: { items, ...delta }, ...rest }: SharedCopy): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify({ ...rest, delta }));
  const words = new Uint32Array(LEAD_WORDS + items.length);
  words.set([VERSION, text.byteLength, items.length]);
  words.set(items, LEAD_WORDS);
  const bytes = new Uint8Array(words.byteLength + text.byteLength);
  bytes.set(new Uint8Array(words.buffer));
  bytes.set(text, words.byteLength);
  return bytes;
}

/** `null` if the bytes are of another version, or incomplete. */
export function readCopy(bytes: Uint8Array): SharedCopy | null {
  const whole = bytes.slice(); // aligned to words
  if (whole.byteLength < LEAD_WORDS * WORD_BYTES) return null;
  const lead = new Uint32Array(whole.buffer, 0, LEAD_WORDS);
  const [version, textBytes, itemWords] = [lead[0]!, lead[1]!, lead[2]!];
  const textAt = (LEAD_WORDS + itemWords) * WORD_BYTES;
  if (version !== VERSION || itemWords % ITEM_WORDS !== 0 || whole.byteLength !== textAt + textBytes) return null;
  const { delta, ...rest } = JSON.parse(new TextDecoder().decode(whole.subarray(textAt))) as WrittenCopy;
  return { ...rest, delta: { ...delta, items: new Uint32Array(whole.buffer, LEAD_WORDS * WORD_BYTES, itemWords) } };
}

type WrittenCopy = Omit<SharedCopy, "delta"> & { readonly delta: Omit<ViewDelta, "items"> };
