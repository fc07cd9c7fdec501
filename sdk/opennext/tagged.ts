import { TAG_FIELD } from "../../wire/fields.ts";
import { isTag } from "../frameworks/next-purge.ts";
import type { TagsOfRequest } from "./tags-of-request.ts";

/**
 * The tag of answers whose tags are not all known, or cannot all be written. Every purge names it, so that a
 * revalidation removes all such answers.
 */
export const UNKNOWN_TAGS = "_N_T_unknown";

/** The fields by which Next and OpenNext mark answers from their cache. */
const FROM_CACHE = ["x-nextjs-cache", "x-nextjs-prerender", "x-opennext-cache"];

/** Where Next serves the files of a build, and images. No revalidation changes them. */
const NOT_RENDERED = /\/_next\/(static|image)\b/;

/**
 * The answer to a request for this path, with its page's tags in `Cache-Tag`. Simultaneous requests may share one
 * rendering in Next, which is then recorded for only one of them. An answer that Next does not cache is under way before
 * its data have all been read, so its tags are unknown, unless the app has written some: whether the edge may store it
 * depends on the edge's routes, too.
 */
export function tagged(response: Response, path: string, { found, written }: TagsOfRequest): Response {
  const { headers } = response;
  const isFromCache = FROM_CACHE.some((name) => headers.has(name));
  if (!isFromCache && (headers.has(TAG_FIELD) || NOT_RENDERED.test(path))) return response;
  const wasRendered = /MISS|REVALIDATED/.test(headers.get("x-nextjs-cache") ?? "");
  const tags = isFromCache ? [...(wasRendered ? written : found)] : [];
  const valid = tags.filter(isTag);
  if (valid.length === 0 || valid.length < tags.length) valid.push(UNKNOWN_TAGS);
  const copy = new Response(response.body, response); // the fields of some responses cannot be changed
  copy.headers.append(TAG_FIELD, valid.join(","));
  return copy;
}
