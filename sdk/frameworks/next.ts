/** For Next: `revalidateTag`, `revalidatePath` and `updateTag` also purge the edge. */

import { purgeRequestSchema } from "../../wire/purge-request.ts";
import { shown } from "../errors.ts";
import type { ItemsInput, PurgeInput } from "../purge-request.ts";
import type { Purger } from "../purger.ts";

/** Options of `withPurge`. */
export interface NextOptions {
  /** Sends the purges. */
  purger: Pick<Purger, "purge">;
  /**
   * Called if a purge fails. The action or route goes on, because the change is committed and Next has revalidated.
   * Default: `console.error`.
   */
  onPurgeError?: ((error: unknown) => void) | undefined;
}

/** How soon a revalidated page may no longer be used, in seconds; absent for `updateTag` and `revalidatePath`. */
interface Durations {
  readonly expire?: number;
}

/** The method of a cache handler that Next calls for every revalidation. */
interface CacheHandler {
  revalidateTag(tags: string | string[], durations?: Durations): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a mixin's constructor takes any arguments (TypeScript's rule for mixins).
type CacheHandlerClass = new (...args: any[]) => CacheHandler;

/**
 * A class for `cacheHandler` of `next.config`: the given cache handler, Next's own or yours, that purges the edge after
 * each revalidation.
 *
 * - `updateTag("song:42")`, `revalidateTag("song:42", { expire: 0 })` purge the tag `song:42`.
 * - `revalidateTag("song:42", "max")` purges it softly. Next itself forgets its page at once: otherwise it would answer once
 *   more with the old one, which the edge would store.
 * - `revalidatePath("/songs/42")` purges that page with everything below it, and the tag `_N_T_/songs/42`; a path with
 *   `[id]` purges everything below the part before it. `revalidatePath("/")` purges the front page alone, by its URL and by
 *   the tag `_N_T_/`; `revalidatePath("/", "layout")` purges the whole site.
 */
export function withPurge<Base extends CacheHandlerClass>(Handler: Base, options: NextOptions): Base {
  const { purger, onPurgeError = reportPurgeError } = options;
  if (typeof purger?.purge !== "function") throw new TypeError("withPurge: the option purger must be a purger");
  return class extends Handler {
    override async revalidateTag(given: string | string[], durations?: Durations): Promise<void> {
      const tags = [given].flat();
      // Without durations Next uses nothing old any more. Then the edge may fetch.
      await super.revalidateTag(tags);
      const mayShowOld = durations !== undefined && durations.expire !== 0;
      const refused = tags.filter((tag) => !isTag(tag) && !tag.startsWith(PATH_TAG));
      if (refused.length > 0) {
        // No response can carry it at the edge, and so none can be purged by it.
        onPurgeError(new TypeError(`revalidateTag: ${refused.map(shown).join(", ")} cannot be a tag at the edge`));
      }
      const request = purgeOf(tags);
      if (request === null) return;
      try {
        await purger.purge(request, { mode: mayShowOld ? "soft" : "hard", reason: "revalidated in Next" });
      } catch (error) {
        onPurgeError(error);
      }
    }
  };
}

function isTag(text: string): boolean {
  return purgeRequestSchema.shape.tags.safeParse([text]).success;
}

/** The prefix of the tags that Next makes from paths: `NEXT_CACHE_IMPLICIT_TAG_ID`. */
const PATH_TAG = "_N_T_";

/** The purge for tags that Next revalidates; `null` if there is nothing to purge. */
function purgeOf(tags: readonly string[]): PurgeInput | null {
  const valid = tags.filter(isTag);
  const urls = new Set<string>();
  const prefixes = new Set<string>();
  for (const tag of tags) {
    if (!tag.startsWith(PATH_TAG)) continue;
    const path = tag.slice(PATH_TAG.length);
    const { fixed, reach } = readPath(path);
    if (fixed !== "/") prefixes.add(fixed);
    else if (reach === "below") return { everything: true };
    else {
      urls.add("/");
      // The tag of the front page may also be that of a page whose path is `/page` or `/index`.
      if (path !== "/") prefixes.add(path);
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
 * The path up to its first dynamic segment, without route groups and without the kind (`page`, `layout`) that Next puts at
 * the end, and whether one page is meant or all pages below.
 */
function readPath(path: string): { readonly fixed: string; readonly reach: "page" | "below" } {
  const segments = path.split("/").filter((segment) => segment !== "" && !/^\(.*\)$/.test(segment));
  const kind = segments.at(-1);
  if (kind === "page" || kind === "layout") segments.pop();
  // Next's name for the front page.
  if (segments.length === 1 && segments[0] === "index") segments.pop();
  const dynamic = segments.findIndex((segment) => segment.startsWith("["));
  const fixed = dynamic === -1 ? segments : segments.slice(0, dynamic);
  return { fixed: `/${fixed.join("/")}`, reach: dynamic === -1 && kind !== "layout" ? "page" : "below" };
}

function reportPurgeError(error: unknown): void {
  console.error("The purge after a revalidation in Next failed, and pages may be stale:", error);
}

export { type EditorCookie, editorCookie } from "./editor-cookie.ts";
