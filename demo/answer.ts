import { createHash } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";

/** A whole response, as a plain value: the server writes it, a page only makes it. */
export interface Answer {
  status: number;
  fields: OutgoingHttpHeaders;
  body: string | Uint8Array;
}

/** An entity tag for exactly these bytes. RFC 9110 §8.8.3. */
export function strongEtag(body: string | Uint8Array): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}

/** JSON for any origin's pages: public data without credentials, so `*` needs no `Vary: Origin`. */
export function json(status: number, value: unknown, fields: OutgoingHttpHeaders): Answer {
  const body = `${JSON.stringify(value)}\n`;
  return {
    status,
    fields: { "content-type": "application/json; charset=utf-8", etag: strongEtag(body), ...fields },
    body,
  };
}

/** `location` is a path on this site: the public name is the business of whoever is in front. */
export function redirect(status: 303 | 308, location: string, fields: OutgoingHttpHeaders): Answer {
  return { status, fields: { location, ...fields }, body: "" };
}
