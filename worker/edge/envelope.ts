import type { StoredHead, StoredResponse } from "../rules/stored-response.ts";

/**
 * How a stored response lies in the Cache API, which is used as a byte store only: always status 200, plain and long
 * retention, the body as it is, and everything else in one field. Freshness, age and status are ours, not the runtime's.
 */
export interface Envelope {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Another version is a miss: a cache outlives its deploys. */
const VERSION = 1;
const HEAD_FIELD = "tidemark-stored";
const RETENTION_SECONDS = 30 * 24 * 3600;

export function seal(stored: StoredResponse): Envelope {
  return {
    fields: {
      "cache-control": `public, max-age=${RETENTION_SECONDS}`,
      "content-type": "application/octet-stream",
      [HEAD_FIELD]: asciiJson({ version: VERSION, ...stored.head }),
    },
    body: stored.body,
  };
}

/** Reads an envelope; `undefined` if it is of another version, of another key, or not whole. */
export function open(key: string, headText: string | null, body: ArrayBuffer): StoredResponse | undefined {
  if (headText === null) return undefined;
  const { version, ...head } = JSON.parse(headText) as StoredHead & { version: number };
  if (version !== VERSION || head.key !== key || head.bodyBytes !== body.byteLength) return undefined;
  return { head, body: new Uint8Array(body) };
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
