import type { ServerReply } from "tidemark/local";

/** A page that may be kept for two hours, with a tag. */
export function page(body: string, tag = "page"): ServerReply {
  return { fields: { "cache-control": "max-age=7200", "cache-tag": tag }, body };
}
