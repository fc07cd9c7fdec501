import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { type HeadersLike, type ResponseLike, type ServerResponseLike, tagResponse } from "../../sdk/index.ts";
import { DEFAULT_MAX_RESPONSE_FIELD_BYTES, DEFAULT_MAX_TAGS } from "../../wire/fields.ts";
import { compileSite } from "../../worker/site/site.ts";

type Tagged = HeadersLike | ResponseLike | ServerResponseLike;

const targets: { name: string; make: (field?: string) => { target: Tagged; read: () => unknown } }[] = [
  {
    name: "Headers",
    make(field) {
      const headers = new Headers(field === undefined ? {} : { "Cache-Tag": field });
      return { target: headers, read: () => headers.get("cache-tag") };
    },
  },
  {
    name: "a Response",
    make(field) {
      const response = new Response("", { headers: field === undefined ? {} : { "Cache-Tag": field } });
      return { target: response, read: () => response.headers.get("cache-tag") };
    },
  },
  {
    name: "Node's ServerResponse",
    make(field) {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      if (field !== undefined) response.setHeader("Cache-Tag", field);
      return { target: response, read: () => response.getHeader("cache-tag") ?? null };
    },
  },
];

const merges: { name: string; field?: string; tags: string[]; expect: string | null }[] = [
  { name: "gets the tags", tags: ["song:42", "songs"], expect: "song:42,songs" },
  { name: "keeps the tags that it had", field: "a, b c", tags: ["d"], expect: "a,b,c,d" },
  { name: "carries each tag once, in its first place", field: "a,b", tags: ["b", "c", "c"], expect: "a,b,c" },
  { name: "is not changed by an empty list", field: "a, a", tags: [], expect: "a, a" },
  { name: "gets no field for an empty list", tags: [], expect: null },
  { name: "distinguishes upper and lower case", field: "a", tags: ["A"], expect: "a,A" },
];

const cases = targets.flatMap((target) =>
  merges.map((merge) => ({ ...merge, target: target.name, make: target.make })),
);

test.for(cases)("$target $name", ({ make, field, tags, expect: expected }) => {
  const { target, read } = make(field);

  expect(tagResponse(target, tags)).toBe(target);

  expect(read()).toBe(expected);
});

test("Tags in several field lines of a ServerResponse become one line", () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.setHeader("cache-tag", ["a", "b"]);

  tagResponse(response, ["c"]);

  expect(response.getHeader("cache-tag")).toBe("a,b,c");
});

const wrongTags = [
  { name: "an empty one", tags: ["ok", ""], message: /"" is not a valid tag: a tag cannot be empty/ },
  { name: "one with a comma", tags: ["a,b"], message: /"a,b" is not a valid tag: a tag must be printable ASCII/ },
  { name: "one that is not ASCII", tags: ["lærke"], message: /"lærke" is not a valid tag/ },
  {
    name: "one that is too long",
    tags: ["x".repeat(257)],
    message: /is not a valid tag: a tag can have at most 256 bytes/,
  },
  { name: "a number", tags: [42], message: /42 is not a valid tag/ },
  { name: "a list in a list", tags: [["a"]], message: /\["a"\] is not a valid tag/ },
];

test.for(wrongTags)("Tags with $name are a TypeError that shows it, and no tag is written", ({ tags, message }) => {
  const headers = new Headers();

  expect(() => tagResponse(headers, tags as string[])).toThrow(TypeError);
  expect(() => tagResponse(headers, tags as string[])).toThrow(message);

  expect([...headers]).toEqual([]);
});

test("A tag of 256 bytes is valid", () => {
  expect(tagResponse(new Headers(), ["x".repeat(256)]).get("cache-tag")).toHaveLength(256);
});

test.for([
  { name: "a framework's context whose get and set have another meaning", target: { get: () => null, set() {} } },
  { name: "a request of Node, whose headers are a plain object", target: { headers: {} } },
  { name: "nothing", target: undefined },
])("Tagging something else is a TypeError: $name", ({ target }) => {
  expect(() => tagResponse(target as unknown as Headers, ["a"])).toThrow(TypeError);
  expect(() => tagResponse(target as unknown as Headers, ["a"])).toThrow(
    /^tagResponse: the first argument must be a Headers, a Response or Node's ServerResponse/,
  );
});

test("Tags come one by one, in lists and in sets", () => {
  const tagged = tagResponse(new Headers(), "songs", ["song:1", "song:2"], new Set(["song:2", "front"]));

  expect(tagged.get("cache-tag")).toBe("songs,song:1,song:2,front");
});

const many = (count: number) => Array.from({ length: count }, (_, index) => `song:${index}`);

test("More tags than the edge keeps are a TypeError, unless the site's limit is higher", () => {
  const headers = tagResponse(new Headers(), many(1000));

  expect(() => tagResponse(headers, "more")).toThrow(
    /^tagResponse: the response would have 1001 tags, and the edge stores none with more than 1000 \(limits\.tags\)/,
  );
  expect(tagResponse(headers, "song:7").get("cache-tag")).toBe(many(1000).join(","));
  expect(tagResponse(headers, "more", { maxTags: 1001 }).get("cache-tag")).toMatch(/,more$/);
  expect(() => tagResponse(new Headers(), "a", "b", { maxTags: 1 })).toThrow(/would have 2 tags/);
});

test("A field that is longer than the edge reads is a TypeError, unless the site's limit is higher", () => {
  const long = Array.from({ length: 300 }, (_, index) => `${index}:`.padEnd(256, "x"));

  expect(() => tagResponse(new Headers(), long)).toThrow(
    /^tagResponse: the field would have 77099 bytes, and .* 65536/,
  );
  expect(tagResponse(new Headers(), long, { maxFieldBytes: 100_000 }).get("cache-tag")).toHaveLength(77_099);
});

test("The limits are those that a site has by default", () => {
  const site = compileSite({ origin: "https://origin.example.com" }, {});

  expect(site.limits.tags).toBe(DEFAULT_MAX_TAGS);
  expect(site.limits.responseFieldBytes).toBe(DEFAULT_MAX_RESPONSE_FIELD_BYTES);
  expect([DEFAULT_MAX_TAGS, DEFAULT_MAX_RESPONSE_FIELD_BYTES]).toEqual([1000, 65_536]);
});

test("A response whose fields cannot be changed is refused with the way out, which works", async () => {
  const fetched = await fetch("data:text/plain,page"); // a framework may replace Response, and not what fetch gives
  const message =
    "tagResponse: the fields of this response cannot be changed, as those of Response.redirect and of fetch: " +
    "take a copy, new Response(response.body, response)";

  expect(() => tagResponse(fetched, "a")).toThrow(new TypeError(message));
  expect(tagResponse(fetched)).toBe(fetched);
  expect(tagResponse(new Response(fetched.body, fetched), "a").headers.get("cache-tag")).toBe("a");
});

test("Another failure of the fields stays as it is", () => {
  const failure = new TypeError("no such field");
  const headers = Object.assign(new Headers(), {
    set: () => {
      throw failure;
    },
  });
  expect(() => tagResponse(headers, "a")).toThrow(failure);
});
