import type { Reply } from "../../../local/cdn/scripted-origin.ts";

export type Lines = string | readonly string[];

/** A page with this `Cache-Control`. */
export function saying(cacheControl: Lines, more: Reply["fields"] = {}, body = "v1"): Reply {
  return { fields: { "cache-control": cacheControl, ...more }, body };
}
