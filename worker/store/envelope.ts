import { isMarker, type Stored, type VariantMarker } from "../rules/storing/stored-response.ts";
import { headParts, OpenedHead } from "./opened-head.ts";

/**
 * How a stored response lies in the Cache API, which is used as a byte store only: always status 200, plain and long
 * retention, the body as it is, and everything else in one field. Freshness, age and status are ours, not the runtime's.
 */
export interface Envelope {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

const HEAD_FIELD = "tidemark-stored";
/** What its text begins with. Another version is a miss: a cache outlives its deploys. */
const VERSION = "3~";
/** Stands between what decides and the rest; the text of a marker has none. */
const SEPARATOR = "~";
const RETENTION_SECONDS = 30 * 24 * 3600;

/** What keeps bytes in the Cache API as they are, for as long as it will have them. */
export const ENVELOPE_FIELDS = {
  "cache-control": `public, max-age=${RETENTION_SECONDS}`,
  "content-type": "application/octet-stream",
};

export function seal(stored: Stored): Envelope {
  const parts = isMarker(stored) ? [stored] : headParts(stored.head);
  return {
    fields: { ...ENVELOPE_FIELDS, [HEAD_FIELD]: VERSION + parts.map(asciiJson).join(SEPARATOR) },
    body: (isMarker(stored) ? null : stored.body) ?? new Uint8Array(0),
  };
}

/** Reads an envelope; `undefined` if it is of another version, of another key, or not whole. */
export function open(key: string, headText: string | null, body: ArrayBuffer): Stored | undefined {
  if (!headText?.startsWith(VERSION)) return undefined;
  const end = headText.indexOf(SEPARATOR, VERSION.length);
  if (end === -1) {
    const marker = JSON.parse(headText.slice(VERSION.length)) as VariantMarker;
    return marker.head.key === key ? marker : undefined;
  }
  const head = new OpenedHead(headText.slice(VERSION.length, end), headText.slice(end + 1));
  if (head.key !== key) return undefined;
  if (head.bodyKey !== null) return { head, body: null };
  return head.bodyBytes === body.byteLength ? { head, body: new Uint8Array(body) } : undefined;
}

/** The field that `open` wants. */
export function headText(fields: Headers): string | null {
  return fields.get(HEAD_FIELD);
}

/** JSON in ASCII alone, so that values of any characters survive the way through a header field; without separators. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[~\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
