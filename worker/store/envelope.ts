import { isMarker, type Stored, type StoredHead, type VariantMarker } from "../rules/storing/stored-response.ts";
import { EnvelopeHead, headParts } from "./envelope-head.ts";

/**
 * A stored response in the form that the Cache API stores. The Cache API serves only as a byte store: the status is
 * always 200, the retention long, the body unchanged, and everything else is in one field. The edge decides on
 * freshness and age, not the runtime.
 */
export interface Envelope {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

const HEAD_FIELD = "tidemark-stored";
/** The beginning of the head's text. Another version counts as a miss, because the cache outlives deployments. */
const VERSION = "5~";
/** Read like the current version, but for its markers: by these, a page could be taken for that of a choice in the key. */
const VERSION_BEFORE = "4~";
/** Separates the values that decide from the others. The text of a variant marker does not contain it. */
const SEPARATOR = "~";
const RETENTION_SECONDS = 30 * 24 * 3600;

/** The fields that make the Cache API store bytes unchanged, for as long as it can. */
export const ENVELOPE_FIELDS = {
  "cache-control": `public, max-age=${RETENTION_SECONDS}`,
  "content-type": "application/octet-stream",
};

/** The text of a head in ASCII, without its body, which `readEnvelope` takes. */
export function writeHead(stored: Stored): string {
  const parts = isMarker(stored) ? [stored] : headParts(stored.head);
  return VERSION + parts.map(asciiJson).join(SEPARATOR);
}

export function writeEnvelope(stored: Stored): Envelope {
  return {
    fields: { ...ENVELOPE_FIELDS, [HEAD_FIELD]: writeHead(stored) },
    body: (isMarker(stored) ? null : stored.body) ?? new Uint8Array(0),
  };
}

/**
 * Reads the text of an envelope's head; `undefined` if it is of another version or of another key. For a response, its
 * reader has to compare the length of the body with `bodyBytes`, unless the body is stored apart.
 */
export function readEnvelope(
  key: string,
  headText: string | null,
): VariantMarker | { readonly head: StoredHead } | undefined {
  const isCurrent = headText?.startsWith(VERSION);
  if (!headText || !(isCurrent || headText.startsWith(VERSION_BEFORE))) return undefined;
  const end = headText.indexOf(SEPARATOR, VERSION.length);
  if (end === -1) {
    if (!isCurrent) return undefined;
    const marker = JSON.parse(headText.slice(VERSION.length)) as VariantMarker;
    return marker.head.key === key ? marker : undefined;
  }
  const head = new EnvelopeHead(headText.slice(VERSION.length, end), headText.slice(end + 1));
  return head.key === key ? { head } : undefined;
}

/** The text of the head that `readEnvelope` takes; `null` if there is none. */
export function headText(fields: Headers): string | null {
  return fields.get(HEAD_FIELD);
}

/** JSON in ASCII without separators, so that all characters survive in a header field. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[~\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
