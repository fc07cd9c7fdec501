import { AsyncLocalStorage } from "node:async_hooks";
import { beforeEach, expect, test } from "vitest";
import { withTags } from "../../../sdk/opennext/config.ts";
import { tagged } from "../../../sdk/opennext/tagged.ts";
import { shareRequests, type TagsOfRequest } from "../../../sdk/opennext/tags-of-request.ts";

const requests = new AsyncLocalStorage<TagsOfRequest>();
const kept = new Map<string, { value: unknown }>();
const cache = withTags({
  name: "in-memory",
  get: async (key: string, _type?: string) => kept.get(key) ?? null,
  set: async (key: string, value: unknown, _type?: string) => void kept.set(key, { value }),
  delete: async (key: string) => void kept.delete(key),
});

beforeEach(() => {
  kept.clear();
  shareRequests(requests);
});

const page = (tags: string) => ({ type: "app", meta: { headers: { "x-next-cache-tags": tags } } });

/** The tags of an answer with these fields, for a request for this path during which the app has done this. */
async function tagsOf(
  fields: Record<string, string>,
  work: () => Promise<unknown>,
  path = "/a",
): Promise<string | null> {
  const tags = { found: new Set<string>(), written: new Set<string>() };
  await requests.run(tags, work);
  const answer = tagged(new Response("a page", { status: 203, headers: fields }), path, tags);
  expect([answer.status, await answer.text()]).toEqual([203, "a page"]);
  return answer.headers.get("cache-tag");
}

const HIT = { "x-nextjs-cache": "HIT" };
const MISS = { "x-nextjs-cache": "MISS" };

test("an answer from Next's cache carries the tags of the page there", async () => {
  await cache.set("/a", page("_N_T_/a,song:1"));
  expect(await tagsOf(HIT, () => cache.get("/a"))).toBe("_N_T_/a,song:1");
  expect(await tagsOf({ "x-opennext-cache": "STALE" }, () => cache.get("/a", "cache"))).toBe("_N_T_/a,song:1");
});

test.each(["MISS", "REVALIDATED"])("a rendered page (%s) carries only its new tags", async (how) => {
  await cache.set("/a", page("old"));
  const render = async () => {
    await cache.get("/a");
    await cache.set("/a", page("new"), "cache");
  };
  expect(await tagsOf({ "x-nextjs-cache": how }, render)).toBe("new");
});

test("an answer whose rendering was recorded for another request carries the tag that every purge names", async () => {
  await cache.set("/a", page("old"));
  expect(await tagsOf(MISS, () => cache.get("/a"))).toBe("_N_T_unknown");
  expect(await tagsOf(HIT, async () => {})).toBe("_N_T_unknown");
  expect(await tagsOf({ "x-nextjs-prerender": "1" }, () => cache.get("/nothing"))).toBe("_N_T_unknown");
});

test("a tag that cannot be written counts as unknown", async () => {
  await cache.set("/a", page("two words,song:1,Lied:für"));
  expect(await tagsOf(HIT, () => cache.get("/a"))).toBe("song:1,_N_T_unknown");
});

test("an answer that Next renders for each request carries the tag that every purge names", async () => {
  const read = () => cache.get("/a");
  await cache.set("/a", page("song:1"));
  const lifetimes = [{ "cache-control": "s-maxage=3600" }, { "cdn-cache-control": "max-age=60" }, {}];
  for (const fields of lifetimes) expect(await tagsOf(fields, read)).toBe("_N_T_unknown");
  for (const path of ["/_next/data/1/a.json", "/static"]) expect(await tagsOf({}, read, path)).toBe("_N_T_unknown");
});

test.each(["/_next/static/a.js", "/_next/image", "/docs/_next/image/"])(
  "%s does not, as no revalidation changes it",
  async (path) => {
    expect(await tagsOf({ "cache-control": "max-age=60" }, async () => {}, path)).toBeNull();
  },
);

test("the app's own tags stay, and an answer that has them and that Next does not cache is not changed", async () => {
  await cache.set("/a", page("song:1"));
  expect(await tagsOf({ ...HIT, "cache-tag": "mine" }, () => cache.get("/a"))).toBe("mine, song:1");
  expect(await tagsOf({ "cache-tag": "mine" }, () => cache.get("/a"))).toBe("mine");
  const answer = new Response(null, { headers: { "cache-tag": "mine" } });
  expect(tagged(answer, "/a", { found: new Set(["a"]), written: new Set() })).toBe(answer);
});

test.each(["fetch", "composable"])("an entry of the type %s is not a page", async (type) => {
  await cache.set("/a", page("song:1"));
  expect(await tagsOf(HIT, () => cache.get("/a", type))).toBe("_N_T_unknown");
  expect(await tagsOf(MISS, () => cache.set("/a", page("song:1"), type))).toBe("_N_T_unknown");
});

test("the cache answers like the cache that it wraps, even outside requests", async () => {
  expect(cache.name).toBe("in-memory");
  expect(await cache.get("/a")).toBeNull();
  await cache.set("/a", { type: "redirect" });
  expect(await cache.get("/a")).toEqual({ value: { type: "redirect" } });
  await cache.delete("/a");
  expect(await cache.get("/a")).toBeNull();
});
