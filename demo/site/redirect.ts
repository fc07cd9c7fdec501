import type { Fields } from "./cache-fields.ts";
import type { DemoContext } from "./context.ts";

/** `location` is a path on this site, because the public host is known only to the proxies in front. */
export function redirect(context: DemoContext, status: 303 | 308, location: string, fields: Fields): Response {
  return context.body(null, status, { location, "content-length": "0", ...fields });
}
