import { isMarker, type Stored, type StoredHead, type VariantMarker } from "../rules/stored-response.ts";

/**
 * How a stored response lies in the Cache API, which is used as a byte store only: always status 200, plain and long
 * retention, the body as it is, and everything else in one field. Freshness, age and status are ours, not the runtime's.
 */
export interface Envelope {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Another version is a miss: a cache outlives its deploys. */
const VERSION = 3;
const HEAD_FIELD = "tidemark-stored";
const RETENTION_SECONDS = 30 * 24 * 3600;

/** What keeps bytes in the Cache API as they are, for as long as it will have them. */
export const ENVELOPE_FIELDS = {
  "cache-control": `public, max-age=${RETENTION_SECONDS}`,
  "content-type": "application/octet-stream",
};

export function seal(stored: Stored): Envelope {
  const told = isMarker(stored) ? { marker: stored } : { response: stored.head };
  return {
    fields: { ...ENVELOPE_FIELDS, [HEAD_FIELD]: asciiJson({ version: VERSION, ...told }) },
    body: (isMarker(stored) ? null : stored.body) ?? new Uint8Array(0),
  };
}

/** Reads an envelope; `undefined` if it is of another version, of another key, or not whole. */
export function open(key: string, headText: string | null, body: ArrayBuffer): Stored | undefined {
  if (headText === null) return undefined;
  const { version, marker, response } = JSON.parse(headText) as Told;
  if (version !== VERSION) return undefined;
  if (marker) return marker.head.key === key ? marker : undefined;
  if (response?.key !== key) return undefined;
  if (response.bodyKey !== null) return { head: response, body: null };
  return response.bodyBytes === body.byteLength ? { head: response, body: new Uint8Array(body) } : undefined;
}

interface Told {
  readonly version: number;
  readonly marker?: VariantMarker;
  readonly response?: StoredHead;
}

/** The field that `open` wants. */
export function headText(fields: Headers): string | null {
  return fields.get(HEAD_FIELD);
}

/** JSON in ASCII alone, so that field values of any characters survive the way through a header field. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
