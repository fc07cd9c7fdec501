import { expect, test } from "vitest";
import { createPurger, type Purger } from "../../sdk/index.ts";
import { accepts, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";

// The calls that TypeScript refuses and JavaScript can still make.
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
  { name: "a misspelt kind", call: (cdn) => cdn.purge({ tag: ["a"] }), message: /^purge: .*Unrecognized key: "tag"/ },
  {
    name: "one tag instead of a list",
    call: (cdn) => cdn.purge({ tags: "a" }),
    message: /^purge: tags: .*expected array/,
  },
  {
    name: "a list instead of tags one by one",
    call: (cdn) => cdn.purgeTags(["a"]),
    message: /^purgeTags: tags\[0\]: .*expected string, received array/,
  },
  {
    name: "a URL object",
    call: (cdn) => cdn.purgeUrls(new URL("http://a.test/")),
    message: /^purgeUrls: urls\[0\]: .*expected string/,
  },
  {
    name: "a URL without its slash",
    call: (cdn) => cdn.purgeUrls("/a", "b"),
    message: /^purgeUrls: urls\[1\]: must be a path that starts with \/, or .* \(got "b"\)$/,
  },
  {
    name: "a tag with a space",
    call: (cdn) => cdn.purgeTags("a", "b c"),
    message: /^purgeTags: tags\[1\]: a tag must be printable ASCII .* \(got "b c"\)$/,
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
    name: "an unknown mode",
    call: (cdn) => cdn.purgeTags("a", { mode: "mild" }),
    message: /^purgeTags, options: mode: must be "hard" or "soft" \(got "mild"\)$/,
  },
  {
    name: "everything and something",
    call: (cdn) => cdn.purge({ everything: true, tags: ["a"] }),
    message: /^purge: everything: must stand alone; leave out tags/,
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
    message: /^purgeEverything, options: id: must be 1 to 128 printable ASCII .* \(got "a b"\)$/,
  },
  {
    name: "a deadline of 0",
    call: (cdn) => cdn.purgeEverything({ deadlineMs: 0 }),
    message: /^purgeEverything, options: deadlineMs: .*>0 \(got 0\)$/,
  },
  {
    name: "a controller instead of its signal",
    call: (cdn) => cdn.purgeEverything({ signal: new AbortController() }),
    message: /^purgeEverything, options: signal: must be an AbortSignal/,
  },
  {
    name: "seven wrong items, of which five are listed",
    call: (cdn) => cdn.purgeUrls(...Array.from({ length: 7 }, () => "x")),
    message: /urls\[4\]: [^;]* \(got "x"\); and 2 more$/,
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
  {
    name: "a misspelt name",
    options: { enpoint: "https://www.example.com" },
    message: /^createPurger: Unrecognized key: "enpoint"/,
  },
  { name: "a negative number of retries", options: { retries: -1 }, message: /^createPurger: retries: .*>=0/ },
  {
    name: "a fetch that is not a function",
    options: { fetch: "fetch" },
    message: /^createPurger: fetch: must be a function like fetch/,
  },
];

test.for(wrongOptions)("Making a purger with $name is a TypeError", ({ options, message }) => {
  expect(() => createPurger(options as object)).toThrow(TypeError);
  expect(() => createPurger(options as object)).toThrow(message);
});

test("A long value is cut in the message", async () => {
  await using cdn = purgerUnderTest({});

  const thrown = await cdn.purgeTags(" ".repeat(257)).catch((error: unknown) => error);

  expect((thrown as TypeError).message).toMatch(/ \(got " {79}…\)/);
});

test("The message about a wrong token does not repeat it", () => {
  expect(() => createPurger({ token: 42_424_242 as unknown as string })).toThrow(/^createPurger: token: [^4]*$/);
});
