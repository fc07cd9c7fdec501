import { expect, test } from "vitest";
import { createPurger, type Purger } from "../../sdk/index.ts";
import { accepts, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";

// What TypeScript would not let pass is what JavaScript can still say.
type Loose = Record<keyof Purger, (...args: unknown[]) => Promise<unknown>>;

const misuses: { name: string; call: (cdn: Loose) => Promise<unknown>; message: RegExp }[] = [
  { name: "no request", call: (cdn) => cdn.purge(), message: /^purge: .*expected object/ },
  {
    name: "a request that names nothing",
    call: (cdn) => cdn.purge({}),
    message: /^purge: name what to purge: at least/,
  },
  { name: "an empty list of tags", call: (cdn) => cdn.purge({ tags: [] }), message: /^purge: tags: name at least one/ },
  { name: "no tags", call: (cdn) => cdn.purgeTags(), message: /^purgeTags: tags: name at least one tag/ },
  {
    name: "no URLs, but options",
    call: (cdn) => cdn.purgeUrls({}),
    message: /^purgeUrls: urls: name at least one URL/,
  },
  { name: "a misspelt kind", call: (cdn) => cdn.purge({ tag: ["a"] }), message: /Unrecognized key: "tag"/ },
  {
    name: "one tag instead of a list",
    call: (cdn) => cdn.purge({ tags: "a" }),
    message: /^purge: tags: .*expected array/,
  },
  {
    name: "a list instead of tags one by one",
    call: (cdn) => cdn.purgeTags(["a"]),
    message: /^purgeTags: tags\[0\]: /,
  },
  { name: "a URL that is no string", call: (cdn) => cdn.purgeUrls(new URL("http://a.test/")), message: /urls\[0\]: / },
  { name: "a URL without its slash", call: (cdn) => cdn.purgeUrls("/a", "b"), message: /urls\[1\]: must be a path/ },
  {
    name: "a tag with a space",
    call: (cdn) => cdn.purgeTags("a", "b c"),
    message: /tags\[1\]: a tag is printable ASCII/,
  },
  {
    name: "no prefixes, but options",
    call: (cdn) => cdn.purgePrefixes({ mode: "soft" }),
    message: /^purgePrefixes: prefixes: name at least one prefix/,
  },
  {
    name: "an empty host",
    call: (cdn) => cdn.purgeHosts(""),
    message: /^purgeHosts: hosts\[0\]: a host cannot be empty/,
  },
  {
    name: "a mode that is none",
    call: (cdn) => cdn.purgeTags("a", { mode: "mild" }),
    message: /^purgeTags, options: mode: is "hard" or "soft"/,
  },
  {
    name: "everything and something",
    call: (cdn) => cdn.purge({ everything: true, tags: ["a"] }),
    message: /everything: stands alone; leave out tags/,
  },
  {
    name: "a refresh of tags",
    call: (cdn) => cdn.purgeTags("a", { refresh: true }),
    message: /^purgeTags: refresh: needs urls/,
  },
  {
    name: "a misspelt option",
    call: (cdn) => cdn.purgeTags("a", { deadline: 5 }),
    message: /^purgeTags, options: Unrecognized key: "deadline"/,
  },
  {
    name: "items among the options",
    call: (cdn) => cdn.purgeUrls("/a", { urls: ["/b"] }),
    message: /^purgeUrls, options: Unrecognized key: "urls"/,
  },
  {
    name: "an id with a space",
    call: (cdn) => cdn.purgeEverything({ id: "a b" }),
    message: /^purgeEverything, options: id: is 1 to 128/,
  },
  {
    name: "a deadline of nothing",
    call: (cdn) => cdn.purgeEverything({ deadlineMs: 0 }),
    message: /^purgeEverything, options: deadlineMs: /,
  },
  {
    name: "a controller instead of its signal",
    call: (cdn) => cdn.purgeEverything({ signal: new AbortController() }),
    message: /^purgeEverything, options: signal: must be an AbortSignal/,
  },
  {
    name: "many wrong items, of which the first are named",
    call: (cdn) => cdn.purgeUrls(...Array.from({ length: 7 }, () => "x")),
    message: /urls\[4\]: [^;]*; and 2 more$/,
  },
];

test.for(misuses)("A call with $name is a TypeError, and nothing is sent", async ({ call, message }) => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const thrown = await call(cdn as unknown as Loose).catch((error: unknown) => error);

  expect(thrown).toBeInstanceOf(TypeError);
  expect((thrown as TypeError).message).toMatch(message);
  expect(edge.requests).toEqual([]);
  await cdn.purgeTags("a", "b");
  await cdn.purgeUrls("/a", { refresh: true });
  await cdn.purgeEverything();
  expect(edge.requests).toHaveLength(3);
});

const wrongOptions = [
  { name: "a misspelt name", options: { enpoint: "https://www.example.com" }, message: /Unrecognized key: "enpoint"/ },
  { name: "a negative number of retries", options: { retries: -1 }, message: /^createPurger: retries: / },
  { name: "a fetch that is none", options: { fetch: "fetch" }, message: /fetch: must be a function like fetch/ },
];

test.for(wrongOptions)("A purger cannot be made with $name", ({ options, message }) => {
  expect(() => createPurger(options as object)).toThrow(TypeError);
  expect(() => createPurger(options as object)).toThrow(message);
});
