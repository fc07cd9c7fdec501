import { expect, test } from "vitest";
import { createPurger, type Purger } from "../../sdk/index.ts";
import { createRecordingPurger } from "../../sdk/testing.ts";
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
  {
    name: "a misspelt kind",
    call: (cdn) => cdn.purge({ tag: ["a"] }),
    message: /^purge: tag: unknown key; did you mean tags\? Known here: urls, tags, prefixes, /,
  },
  {
    name: "one tag instead of a list",
    call: (cdn) => cdn.purge({ tags: "a" }),
    message: /^purge: tags: .*expected array/,
  },
  {
    name: "a string instead of a list of tags in a request",
    call: (cdn) => cdn.purge({ tags: "abc", urls: new Set(["/a"]) }),
    message: /^purge: tags: .*expected array/,
  },
  {
    name: "a list in a list",
    call: (cdn) => cdn.purgeTags([["a"]]),
    message: /^purgeTags: tags\[0\]: .*expected string, received array/,
  },
  { name: "an empty list", call: (cdn) => cdn.purgeTags([]), message: /^purgeTags: tags: name at least one tag/ },
  { name: "an empty set", call: (cdn) => cdn.purgeUrls(new Set()), message: /^purgeUrls: urls: name at least one URL/ },
  {
    name: "a URL object that is not http",
    call: (cdn) => cdn.purgeUrls(new URL("ftp://a.test/")),
    message: /^purgeUrls: urls\[0\]: must be a path .* \(got "ftp:\/\/a\.test\/"\)$/,
  },
  {
    name: "a number among the items",
    call: (cdn) => cdn.purgeTags(["a", 7]),
    message: /^purgeTags: tags\[1\]: .*expected string, received number \(got 7\)$/,
  },
  {
    name: "a URL without its slash",
    call: (cdn) => cdn.purgeUrls("/a", "b"),
    message: /^purgeUrls: urls\[1\]: must be a path that starts with \/, or .* \(got "b"\)$/,
  },
  {
    name: "a URL with a space",
    call: (cdn) => cdn.purge({ tags: ["a"], urls: ["/a b"] }),
    message:
      /^purge: urls\[0\]: a URL cannot have a space or a control character; write %20 for a space \(got "\/a b"\)$/,
  },
  {
    name: "a whole URL with the end of a line",
    call: (cdn) => cdn.purgeUrls("https://www.example.com/\n"),
    message: /^purgeUrls: urls\[0\]: a URL cannot have a space or a control character; /,
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
    name: "more wrong tags than a call of a function may have arguments",
    call: (cdn) => cdn.purgeTags(Array(200_000).fill("b c")),
    message: /^purgeTags: names 200000 items; one purge can name at most 10000, so split it$/,
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
    message: /^purgeTags, options: deadline: unknown key; did you mean deadlineMs\? Known here: mode, /,
  },
  {
    name: "items among the options",
    call: (cdn) => cdn.purgeUrls("/a", { urls: ["/b"] }),
    message: /^purgeUrls, options: urls: unknown key\. Known here: mode, /,
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
    name: "a misspelt option of purges",
    call: (cdn) => cdn.purges({ limits: 5 }),
    message: /^purges: limits: unknown key; did you mean limit\? Known here: before, limit, signal, deadlineMs$/,
  },
  {
    name: "a limit above the maximum",
    call: (cdn) => cdn.purges({ limit: 501 }),
    message: /^purges: limit: .*<=500 \(got 501\)$/,
  },
  {
    name: "no purge to know the status of",
    call: (cdn) => cdn.status(),
    message: /^status: the first argument must be the number of a purge \(1 or more\) or its receipt\.$/,
  },
  {
    name: "the receipt of a dry run",
    call: (cdn) => cdn.status({ seq: 0 }),
    message: /^status: .*The receipt of a dry run has no number, because nothing was purged\.$/,
  },
  {
    name: "a misspelt option of status",
    call: (cdn) => cdn.status(7, { signl: null }),
    message: /^status, options: signl: unknown key; did you mean signal\?/,
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
    message:
      /^createPurger: enpoint: unknown key; did you mean endpoint\? Known here: endpoint, endpoints, token, fetch, /,
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

test("A purger takes its items one by one, in lists and in sets, and URLs as objects", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const whole = new URL("https://www.example.com/a b?q=1");

  await cdn.purgeTags("a", "b");
  await cdn.purgeTags(["a", "b"]);
  await cdn.purgeTags(new Set(["a", "b"]), { reason: "saved" });
  await cdn.purgeTags("a", ["b", "c"]);
  await cdn.purgeUrls(["/a", whole], { refresh: true });
  await cdn.purgeUrls(whole);
  await cdn.purgePrefixes(["/shop"]);
  await cdn.purgeHosts(new Set(["m.example.com"]));
  await cdn.purge({ urls: new Set(["/a", whole]), tags: new Set(["a"]), prefixes: ["/shop"] });
  await using batch = cdn.batch();
  await batch
    .urls([whole], "/a")
    .tags(new Set(["a"]), "b")
    .commit();

  expect(edge.requests.map(({ body: { id: _, ...sent } }) => sent)).toEqual([
    { tags: ["a", "b"] },
    { tags: ["a", "b"] },
    { tags: ["a", "b"], reason: "saved" },
    { tags: ["a", "b", "c"] },
    { urls: ["/a", "https://www.example.com/a%20b?q=1"], refresh: true },
    { urls: ["https://www.example.com/a%20b?q=1"] },
    { prefixes: ["/shop"] },
    { hosts: ["m.example.com"] },
    { urls: ["/a", "https://www.example.com/a%20b?q=1"], tags: ["a"], prefixes: ["/shop"] },
    { urls: ["https://www.example.com/a%20b?q=1", "/a"], tags: ["a", "b"] },
  ]);
});

test("Waiting for a purge with a misspelt option is a TypeError, from a real receipt and from a recorded one", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  for (const purger of [cdn, createRecordingPurger()]) {
    const receipt = await purger.purgeTags("a");
    const misspelt = receipt.settled({ signl: AbortSignal.timeout(5) } as object);
    await expect(misspelt).rejects.toThrow(TypeError);
    await expect(receipt.settled({ timeoutMs: 5 } as object)).rejects.toThrow(
      /^settled: timeoutMs: unknown key\. Known here: signal$/,
    );
    await expect(misspelt).rejects.toThrow(/^settled: signl: unknown key; did you mean signal\? Known here: signal$/);
    await receipt.settled();
  }
});

test("A long value is cut in the message", async () => {
  await using cdn = purgerUnderTest({});

  const thrown = await cdn.purgeTags(" ".repeat(257)).catch((error: unknown) => error);

  expect((thrown as TypeError).message).toMatch(/ \(got " {79}…\)/);
});

test("The message about a wrong token does not repeat it", () => {
  expect(() => createPurger({ token: 42_424_242 as unknown as string })).toThrow(/^createPurger: token: [^4]*$/);
});
