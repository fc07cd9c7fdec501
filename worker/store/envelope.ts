import { isMarker, type Stored, type VariantMarker } from "../rules/storing/stored-response.ts";
import { EnvelopeHead, headParts } from "./envelope-head.ts";

/**
 * A stored response as the Cache API holds it, which is used as a byte store only: always status 200, a long retention,
 * the body as it is, and everything else in one field. The edge decides on freshness and age, not the runtime.
 */
export interface Envelope {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

const HEAD_FIELD = "tidemark-stored";
/** The beginning of the head's text. Another version is a miss, because a cache outlives deployments. */
const VERSION = "3~";
/** Separates the facts that decide from the rest. The text of a variant marker has none. */
const SEPARATOR = "~";
const RETENTION_SECONDS = 30 * 24 * 3600;

/** The fields that make the Cache API keep bytes unchanged, as long as it will. */
export const ENVELOPE_FIELDS = {
  "cache-control": `public, max-age=${RETENTION_SECONDS}`,
  "content-type": "application/octet-stream",
};

export function writeEnvelope(stored: Stored): Envelope {
  const parts = isMarker(stored) ? [stored] : headParts(stored.head);
  return {
    fields: { ...ENVELOPE_FIELDS, [HEAD_FIELD]: VERSION + parts.map(asciiJson).join(SEPARATOR) },
    body: (isMarker(stored) ? null : stored.body) ?? new Uint8Array(0),
  };
}

/** Reads an envelope; `undefined` if it is of another version, of another key, or not whole. */
export function readEnvelope(key: string, headText: string | null, body: ArrayBuffer): Stored | undefined {
  if (!headText?.startsWith(VERSION)) return undefined;
  const end = headText.indexOf(SEPARATOR, VERSION.length);
  if (end === -1) {
    const marker = JSON.parse(headText.slice(VERSION.length)) as VariantMarker;
    return marker.head.key === key ? marker : undefined;
  }
  const head = new EnvelopeHead(headText.slice(VERSION.length, end), headText.slice(end + 1));
  if (head.key !== key) return undefined;
  if (head.bodyKey !== null) return { head, body: null };
  return head.bodyBytes === body.byteLength ? { head, body: new Uint8Array(body) } : undefined;
}

/** The field that `open` wants. */
export function headText(fields: Headers): string | null {
  return fields.get(HEAD_FIELD);
}

/** JSON in ASCII without separators, so that any characters survive in a header field. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[~\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
