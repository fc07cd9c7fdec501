import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { type HeadersLike, type ResponseLike, type ServerResponseLike, tagResponse } from "../../sdk/index.ts";

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
  { name: "gets its tags", tags: ["song:42", "songs"], expect: "song:42,songs" },
  { name: "keeps the tags that it has", field: "a, b c", tags: ["d"], expect: "a,b,c,d" },
  { name: "carries each tag once, in its first place", field: "a,b", tags: ["b", "c", "c"], expect: "a,b,c" },
  { name: "is left alone by an empty list", field: "a, a", tags: [], expect: "a, a" },
  { name: "has no field for an empty list", tags: [], expect: null },
  { name: "tells upper from lower case", field: "a", tags: ["A"], expect: "a,A" },
];

const cases = targets.flatMap((target) =>
  merges.map((merge) => ({ ...merge, target: target.name, make: target.make })),
);

test.for(cases)("$target $name", ({ make, field, tags, expect: expected }) => {
  const { target, read } = make(field);

  expect(tagResponse(target, tags)).toBe(target);

  expect(read()).toBe(expected);
});

test("Tags that a ServerResponse has in several lines become one line", () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.setHeader("cache-tag", ["a", "b"]);

  tagResponse(response, ["c"]);

  expect(response.getHeader("cache-tag")).toBe("a,b,c");
});

const wrongTags = [
  { name: "an empty one", tags: ["ok", ""], message: /"" is not a tag: a tag cannot be empty/ },
  { name: "one with a comma", tags: ["a,b"], message: /"a,b" is not a tag: a tag is printable ASCII/ },
  { name: "one that is not ASCII", tags: ["lærke"], message: /"lærke" is not a tag/ },
  { name: "one that is too long", tags: ["x".repeat(257)], message: /is not a tag: a tag can have at most 256 bytes/ },
  { name: "a number", tags: [42], message: /42 is not a tag/ },
  { name: "a string instead of a list", tags: "song:42", message: /tags must be an array/ },
];

test.for(wrongTags)("Tags with $name are a TypeError that names it, and none is written", ({ tags, message }) => {
  const headers = new Headers();

  expect(() => tagResponse(headers, tags as string[])).toThrow(TypeError);
  expect(() => tagResponse(headers, tags as string[])).toThrow(message);

  expect([...headers]).toEqual([]);
});

test("A tag as long as a tag can be is one", () => {
  expect(tagResponse(new Headers(), ["x".repeat(256)]).get("cache-tag")).toHaveLength(256);
});

test.for([
  { name: "a context whose get and set mean something else", target: { get: () => null, set() {} } },
  { name: "a request of Node, whose headers are a plain object", target: { headers: {} } },
  { name: "nothing", target: undefined },
])("What cannot be tagged is a TypeError: $name", ({ target }) => {
  expect(() => tagResponse(target as unknown as Headers, ["a"])).toThrow(TypeError);
  expect(() => tagResponse(target as unknown as Headers, ["a"])).toThrow(/give it a Headers, a Response or Node's/);
});
