/** For Next: `revalidateTag`, `revalidatePath` and `updateTag` also purge the edge. */

import { shown } from "../errors.ts";
import type { Purger } from "../purger.ts";
import { tellError } from "../tell-error.ts";
import { isBasePath, isTag, PATH_TAG, purgeOf } from "./next-purge.ts";

/** Options of `withPurge`. */
export interface NextOptions {
  /** Sends the purges. */
  purger: Pick<Purger, "purge">;
  /** The `basePath` of `next.config`, like `/docs`: Next's tags leave it out, and the edge has it. Default: none. */
  basePath?: string | undefined;
  /**
   * Called if a purge fails. The action or route continues, because the change is committed and Next has revalidated.
   * Default: `console.error`.
   */
  onPurgeError?: ((error: unknown) => void) | undefined;
}

/** After how many seconds a revalidated page may no longer be used; absent for `updateTag` and `revalidatePath`. */
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
 * each of these calls.
 *
 * - `updateTag("song:42")`, `revalidateTag("song:42", { expire: 0 })` purge the tag `song:42`.
 * - `revalidateTag("song:42", "max")` purges it softly. Next itself forgets its page at once: otherwise it would answer
 *   once more with the old one, which the edge would store.
 * - `revalidatePath("/songs/42")` purges that page with everything below it, and the tag `_N_T_/songs/42`; a path with
 *   `[id]` purges everything below the part before it. `revalidatePath("/")` purges only the front page, by its URL and
 *   by the tag `_N_T_/`; `revalidatePath("/", "layout")` purges the whole site, or all below `basePath`.
 * - `res.revalidate("/about")` of the Pages Router purges nothing: call `purger.purgePrefixes("/about")` after it, and let
 *   the site pass `/_next/data/*`, where its clicks get the page.
 * - Behind a rewrite, Next's path is that of the destination: purge the URL that visitors ask for as well, in `after()`.
 * - A purge of your own inside an action comes too early: Next forgets its page when the action has ended.
 */
export function withPurge<Base extends CacheHandlerClass>(Handler: Base, options: NextOptions): Base {
  const { purger, basePath = "", onPurgeError = reportPurgeError } = options;
  if (typeof purger?.purge !== "function") throw new TypeError("withPurge: the option purger must be a purger");
  if (!isBasePath(basePath)) {
    throw new TypeError(
      `withPurge: the option basePath must be like "/docs", as in next.config (got ${shown(basePath)})`,
    );
  }
  return class extends Handler {
    override async revalidateTag(given: string | string[], durations?: Durations): Promise<void> {
      const tags = [given].flat();
      // Without durations, Next no longer uses the old page, so the edge may fetch it.
      await super.revalidateTag(tags);
      const mayShowOld = durations !== undefined && durations.expire !== 0;
      const refused = tags.filter((tag) => !isTag(tag) && !tag.startsWith(PATH_TAG));
      if (refused.length > 0) {
        // At the edge, no response can carry this tag, so none can be purged by it.
        const names = refused.map(shown).join(", ");
        tellError("onPurgeError", onPurgeError, new TypeError(`revalidateTag: ${names} cannot be a tag at the edge`));
      }
      const request = purgeOf(tags, basePath);
      if (request === null) return;
      try {
        await purger.purge(request, { mode: mayShowOld ? "soft" : "hard", reason: "revalidated in Next" });
      } catch (error) {
        tellError("onPurgeError", onPurgeError, error);
      }
    }
  };
}

function reportPurgeError(error: unknown): void {
  console.error("The purge after a revalidation in Next failed, and pages may be stale:", error);
}

export { type EditorCookie, editorCookie } from "./editor-cookie.ts";
