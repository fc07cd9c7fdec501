/**
 * For `open-next.config.ts`, which OpenNext also runs in Node: nothing here may import modules that only workers have.
 */

import { noteTags } from "./tags-of-request.ts";

/** The parts of OpenNext's incremental cache that are used. */
interface IncrementalCache {
  readonly name: string;
  get(key: string, type?: string): Promise<{ readonly value?: unknown } | null>;
  set(key: string, value: unknown, type?: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** OpenNext's own type, whose methods are generic. */
interface AnyIncrementalCache {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: a generic method fits no other type.
  get: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  set: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  delete: any;
}

/**
 * The given incremental cache, which also records the tags of the pages that pass through it. `behindEdge` writes them
 * into the answer, because Next keeps them beside the page but removes them from answers.
 */
export function withTags<Cache extends AnyIncrementalCache>(given: Cache): Pick<Cache, keyof AnyIncrementalCache> {
  const cache: IncrementalCache = given;
  const noting: IncrementalCache = {
    name: cache.name,
    async get(key, type) {
      const found = await cache.get(key, type);
      noteTags("found", tagsOf(found?.value, type));
      return found;
    },
    async set(key, value, type) {
      // Before the await, because Next does not wait for writes.
      noteTags("written", tagsOf(value, type));
      await cache.set(key, value, type);
    },
    delete: (key) => cache.delete(key),
  };
  return noting as Pick<Cache, keyof AnyIncrementalCache>;
}

/** The tags of a page. `type` is `fetch` or `composable` for data, whose tags are also tags of the cached page. */
function tagsOf(value: unknown, type = "cache"): readonly string[] {
  const { meta } = Object(value) as { meta?: { headers?: Record<string, unknown> } };
  const tags = meta?.headers?.["x-next-cache-tags"];
  return type === "cache" && typeof tags === "string" ? tags.split(",") : [];
}
