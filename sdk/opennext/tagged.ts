import { TAG_FIELD } from "../../wire/fields.ts";
import { isTag } from "../frameworks/next-purge.ts";
import type { TagsOfRequest } from "./tags-of-request.ts";

/**
 * The tag of answers from Next's cache whose tags are not all known, or cannot all be written. Every purge names it, so
 * that a revalidation removes all such answers.
 */
export const UNKNOWN_TAGS = "_N_T_unknown";

/** The fields by which Next and OpenNext mark answers from their cache. */
const FROM_CACHE = ["x-nextjs-cache", "x-nextjs-prerender", "x-opennext-cache"];

/**
 * The answer with its page's tags in `Cache-Tag`; unchanged if Next does not cache it. Simultaneous requests may share
 * one rendering in Next, which is then recorded for only one of them.
 */
export function tagged(response: Response, { found, written }: TagsOfRequest): Response {
  const { headers } = response;
  if (!FROM_CACHE.some((name) => headers.has(name))) return response;
  const wasRendered = /MISS|REVALIDATED/.test(headers.get("x-nextjs-cache") ?? "");
  const tags = [...(wasRendered ? written : found)];
  const valid = tags.filter(isTag);
  if (valid.length === 0 || valid.length < tags.length) valid.push(UNKNOWN_TAGS);
  const copy = new Response(response.body, response); // the fields of some responses cannot be changed
  copy.headers.append(TAG_FIELD, valid.join(","));
  return copy;
}
