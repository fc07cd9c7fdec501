import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Step } from "../../engine/scenario.ts";

export const MODIFIED = "Thu, 01 Jan 2026 11:59:59 GMT";

/** Ten bytes. The date is one second older than the response, just enough to be a strong validator. */
export const ten: Reply = {
  fields: { "cache-control": "max-age=60", "content-type": "text/plain", etag: '"1"', "last-modified": MODIFIED },
  body: "0123456789",
};

export const stored: readonly Step[] = [{ get: "/a", expect: { status: 200, xCache: "MISS", body: "0123456789" } }];

export function part(range: string, contentRange: string, body: string, xCache = "HIT"): Step {
  const fields = { "content-range": contentRange, "content-type": "text/plain", etag: '"1"' };
  return { get: "/a", fields: { range }, expect: { status: 206, xCache, body, fields } };
}
