import { purgeRequestSchema } from "../../wire/purge-request.ts";
import type { ItemsInput, PurgeInput } from "../purge-request.ts";

/** Whether a response can carry this tag at the edge. */
export function isTag(text: string): boolean {
  return purgeRequestSchema.shape.tags.safeParse([text]).success;
}

/** The prefix of the tags that Next makes from paths: `NEXT_CACHE_IMPLICIT_TAG_ID`. */
export const PATH_TAG = "_N_T_";

/** Whether Next takes this as the `basePath` of `next.config`. */
export function isBasePath(text: string): boolean {
  return /^(\/.*[^/])?$/.test(text);
}

/**
 * The purge for tags that Next revalidates; `null` if there is nothing to purge. `basePath` is Next's own: the paths in
 * its tags do not have it.
 */
export function purgeOf(tags: readonly string[], basePath = ""): PurgeInput | null {
  const valid = tags.filter(isTag);
  const urls = new Set<string>();
  const prefixes = new Set<string>();
  for (const tag of tags) {
    if (!tag.startsWith(PATH_TAG)) continue;
    // A purge with a path that the edge refuses would purge nothing else, either.
    const path = tag.slice(PATH_TAG.length).replace(/[?#].*/s, "") || "/";
    const { fixed, reach } = readPath(path);
    if (fixed !== "/") prefixes.add(basePath + fixed);
    else if (reach === "below" && basePath === "") return { everything: true };
    else if (reach === "below") prefixes.add(basePath);
    else {
      // Whether it ends with a slash depends on `trailingSlash` of `next.config`.
      if (basePath !== "") urls.add(basePath);
      urls.add(`${basePath}/`);
      // The tag of the front page may also be that of a page whose path is `/page` or `/index`.
      if (path !== "/") prefixes.add(basePath + path);
    }
  }
  const items: ItemsInput = {
    ...(valid.length > 0 && { tags: valid }),
    ...(urls.size > 0 && { urls }),
    ...(prefixes.size > 0 && { prefixes }),
  };
  return Object.keys(items).length === 0 ? null : (items as PurgeInput);
}

/**
 * The path up to its first dynamic segment, without route groups and without the kind (`page`, `layout`) that Next
 * appends, and whether it means one page or all pages below.
 */
function readPath(path: string): { readonly fixed: string; readonly reach: "page" | "below" } {
  const segments = path.split("/").filter((segment) => segment !== "" && !/^\(.*\)$/.test(segment));
  const kind = segments.at(-1);
  if (kind === "page" || kind === "layout") segments.pop();
  // Next's name for the front page.
  if (segments.length === 1 && segments[0] === "index") segments.pop();
  // No prefix ends with a star.
  const dynamic = segments.findIndex((segment) => segment.startsWith("[") || segment.endsWith("*"));
  const fixed = dynamic === -1 ? segments : segments.slice(0, dynamic);
  return { fixed: `/${fixed.map(escaped).join("/")}`, reach: dynamic === -1 && kind !== "layout" ? "page" : "below" };
}

/** A segment as a URL has it: Next takes paths as their author writes them. */
function escaped(segment: string): string {
  return segment.replace(/%(?![\da-f]{2})|[\s\\]/gi, encodeURIComponent).replaceAll("*", "%2A");
}
