import { beforeEach, expect, test, vi } from "vitest";
import { withPurge } from "../../../sdk/frameworks/next.ts";
import { PurgeTimeout } from "../../../sdk/index.ts";
import { createRecordingPurger } from "../../../sdk/testing.ts";

const purger = createRecordingPurger();
const calls: unknown[] = [];

class NextCache {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
  async revalidateTag(...args: unknown[]): Promise<void> {
    await Promise.resolve();
    calls.push({ revalidated: args, purgesBefore: purger.calls.length });
  }
}

beforeEach(() => {
  purger.reset();
  calls.length = 0;
});

const reason = "revalidated in Next";

test.each([
  ["updateTag", ["song:42"], undefined, { tags: ["song:42"], mode: "hard" }],
  ["a revalidateTag that expires at once", ["song:42"], { expire: 0 }, { tags: ["song:42"], mode: "hard" }],
  ["a revalidateTag that may show the old page", ["a", "b"], { expire: 60 }, { tags: ["a", "b"], mode: "soft" }],
  ["a path", ["_N_T_/songs/42"], undefined, { tags: ["_N_T_/songs/42"], prefixes: ["/songs/42"], mode: "hard" }],
  [
    "a route with a dynamic segment",
    ["_N_T_/(shop)/songs/[id]/page"],
    undefined,
    { tags: ["_N_T_/(shop)/songs/[id]/page"], prefixes: ["/songs"], mode: "hard" },
  ],
  ["a layout", ["_N_T_/shop/layout"], undefined, { tags: ["_N_T_/shop/layout"], prefixes: ["/shop"], mode: "hard" }],
  [
    "the front page",
    ["_N_T_/", "_N_T_/index"],
    undefined,
    { tags: ["_N_T_/", "_N_T_/index"], urls: ["/"], prefixes: ["/index"], mode: "hard" },
  ],
  [
    "a page whose path is also the kind of a page",
    ["_N_T_/page"],
    undefined,
    { tags: ["_N_T_/page"], urls: ["/"], prefixes: ["/page"], mode: "hard" },
  ],
  ["a path that cannot be a tag", ["_N_T_/two words"], undefined, { prefixes: ["/two%20words"], mode: "hard" }],
  [
    "a path as its author writes it",
    ["a", "_N_T_/100%/b%20c\\d"],
    undefined,
    { tags: ["a", "_N_T_/100%/b%20c\\d"], prefixes: ["/100%25/b%20c%5Cd"], mode: "hard" },
  ],
  ["a path with a star", ["_N_T_/a/b*"], undefined, { tags: ["_N_T_/a/b*"], prefixes: ["/a"], mode: "hard" }],
  [
    "a path with a star in a name",
    ["a", "_N_T_/a/b*c"],
    undefined,
    { tags: ["a", "_N_T_/a/b*c"], prefixes: ["/a/b%2Ac"], mode: "hard" },
  ],
  [
    "a path with a query, which no path at the edge has",
    ["a", "_N_T_/?page=2", "_N_T_/b?c=/../d#e"],
    undefined,
    { tags: ["a", "_N_T_/?page=2", "_N_T_/b?c=/../d#e"], urls: ["/"], prefixes: ["/b"], mode: "hard" },
  ],
  ["the root layout", ["_N_T_/layout", "a"], undefined, { everything: true, mode: "hard" }],
  ["a dynamic segment at the root", ["_N_T_/[slug]/page"], undefined, { everything: true, mode: "hard" }],
])("%s is purged after Next has forgotten it", async (_, tags, durations, purge) => {
  const Handler = withPurge(NextCache, { purger });
  const handler = new Handler("mine");
  expect(handler.name).toBe("mine");

  await handler.revalidateTag(tags, durations);

  // Without durations: Next answers no more with the old page.
  expect(calls).toEqual([{ revalidated: [tags], purgesBefore: 0 }]);
  expect(purger.calls).toEqual([{ ...purge, reason }]);
});

test.each([
  ["a path", "/songs/42", { prefixes: ["/docs/songs/42"] }],
  ["a route with a dynamic segment", "/songs/[id]/page", { prefixes: ["/docs/songs"] }],
  ["the front page, with or without a slash at its end", "/", { urls: ["/docs", "/docs/"] }],
  ["a page whose path is also the kind of a page", "/page", { urls: ["/docs", "/docs/"], prefixes: ["/docs/page"] }],
  ["the root layout", "/layout", { prefixes: ["/docs"] }],
])("with a basePath, %s is purged below it", async (_, path, items) => {
  const Handler = withPurge(NextCache, { purger, basePath: "/docs" });
  await new Handler("").revalidateTag(`_N_T_${path}`);
  expect(purger.calls).toEqual([{ tags: [`_N_T_${path}`], ...items, mode: "hard", reason }]);
});

test("the basePath is as in next.config: empty, or with a slash only at its beginning", async () => {
  await new (withPurge(NextCache, { purger, basePath: "" }))("").revalidateTag("_N_T_/layout");
  expect(purger.calls).toMatchObject([{ everything: true }]);
  for (const basePath of ["docs", "/docs/", "/", 7]) {
    const wrong = { purger, basePath: basePath as string };
    expect(() => withPurge(NextCache, wrong)).toThrow(
      `withPurge: the option basePath must be like "/docs", as in next.config (got ${JSON.stringify(basePath)})`,
    );
  }
});

test("a tag that no response can carry at the edge is left out and reported", async () => {
  const errors: unknown[] = [];
  const Handler = withPurge(NextCache, { purger, onPurgeError: (error) => errors.push(error) });
  await new Handler("").revalidateTag(["two words", "song:42"]);
  expect(purger.calls).toEqual([{ tags: ["song:42"], mode: "hard", reason }]);
  expect(String(errors)).toMatch(/TypeError: .*two words/);
  await new Handler("").revalidateTag("two words");
  expect(errors).toHaveLength(2);
});

test("a failed purge does not fail the revalidation, and is reported", async () => {
  const failure = new PurgeTimeout("no answer", { attempts: 5 });
  const print = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    purger.failNext(failure);
    await new (withPurge(NextCache, { purger }))("").revalidateTag("song:42");
    expect(print).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("pages may be stale"), failure);
  } finally {
    print.mockRestore();
  }
});

test("an onPurgeError that throws fails no revalidation, and no purge of the other tags", async () => {
  const broken = new Error("no log");
  const onPurgeError = () => {
    throw broken;
  };
  const print = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    await new (withPurge(NextCache, { purger, onPurgeError }))("").revalidateTag(["two words", "song:42"]);
    expect(purger.calls).toMatchObject([{ tags: ["song:42"] }]);
    const refusal = expect.any(TypeError);
    expect(print).toHaveBeenCalledExactlyOnceWith("onPurgeError failed:", broken, "It was told of:", refusal);
  } finally {
    print.mockRestore();
  }
});

test("without a purger it is refused at once", () => {
  expect(() => withPurge(NextCache, {} as never)).toThrow("withPurge: the option purger must be a purger");
});

test("nothing is purged for no tags", async () => {
  await new (withPurge(NextCache, { purger }))("").revalidateTag([]);
  expect(purger.calls).toEqual([]);
});
