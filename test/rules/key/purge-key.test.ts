import fc from "fast-check";
import { expect, test } from "vitest";
import { readPurgeItems } from "../../../cli/purge-items.ts";
import { purgeItemText } from "../../../worker/control/purging/purge-item-text.ts";
import {
  EVERYTHING_PURGE_KEY,
  groupPurgeKey,
  hostPurgeKey,
  type PurgeItem,
  pathPurgeKey,
  prefixPurgeKey,
  readPurgeKey,
  tagPurgeKey,
  urlPurgeKey,
} from "../../../worker/rules/key/purge-key.ts";

const items = [
  { key: pathPurgeKey("/a?x=1"), item: "/a?x=1", read: { urls: ["/a?x=1"] } },
  {
    key: urlPurgeKey("m.example.test", "/a"),
    item: "https://m.example.test/a",
    read: { urls: ["https://m.example.test/a"] },
  },
  { key: tagPurgeKey("song:42"), item: "tag:song:42", read: { tags: ["song:42"] } },
  { key: prefixPurgeKey("/shop/a"), item: "prefix:/shop/a", read: { prefixes: ["/shop/a"] } },
  { key: hostPurgeKey("m.example.test"), item: "host:m.example.test", read: { hosts: ["m.example.test"] } },
  {
    key: hostPurgeKey("m.example.test", "/shop"),
    item: "prefix:m.example.test/shop",
    read: { prefixes: ["m.example.test/shop"] },
  },
];

test.each(items)("$key is read as $item, and purged again by it", ({ key, item, read }) => {
  expect(purgeItemText(key)).toBe(item);
  expect(readPurgeItems(item)).toEqual({ urls: [], tags: [], prefixes: [], hosts: [], ...read });
});

test("everything and groups are shown by name", () => {
  expect(purgeItemText(EVERYTHING_PURGE_KEY)).toBe("everything");
  expect(purgeItemText(groupPurgeKey({ scheme: "https", host: "a.test" }, "news"))).toBe("group:https://a.test news");
});

test("no two kinds of items share a key", () => {
  const keys = [
    ...items.map(({ key }) => key),
    prefixPurgeKey("//m.example.test/shop"),
    pathPurgeKey("//m.example.test/a"),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

type Written = readonly [key: string, item: PurgeItem];

const host = fc.constantFrom("m.example.test", "localhost:8080", "[::1]");
const parts = fc.array(fc.constantFrom("a", "%25", ":", "#", "%2A", " ", "host:x", "//", "?x=1"));
const path = parts.map((texts) => `/${texts.join("")}`);
const text = fc.string();
const scheme = fc.constantFrom("http", "https");

const written: Readonly<Record<string, fc.Arbitrary<Written>>> = {
  url: fc
    .tuple(host, path)
    .map(([name, at]): Written => [urlPurgeKey(name, at), { kind: "url", host: name, pathAndQuery: at }]),
  path: path.map((at): Written => [pathPurgeKey(at), { kind: "path", pathAndQuery: at }]),
  "prefix on every host": path.map((at): Written => [prefixPurgeKey(at), { kind: "prefix", host: null, prefix: at }]),
  "prefix on one host": fc
    .tuple(host, path)
    .map(([name, at]): Written => [hostPurgeKey(name, at), { kind: "prefix", host: name, prefix: at }]),
  host: host.map((name): Written => [hostPurgeKey(name), { kind: "host", host: name }]),
  tag: text.map((tag): Written => [tagPurgeKey(tag), { kind: "tag", tag }]),
  group: fc
    .tuple(scheme, host, text)
    .map(
      ([of, name, group]): Written => [
        groupPurgeKey({ scheme: of, host: name }, group),
        { kind: "group", scheme: of, host: name, group },
      ],
    ),
  everything: fc.constant<Written>([EVERYTHING_PURGE_KEY, { kind: "everything" }]),
};

test.each(Object.entries(written))("the key of a %s is read as the same item", (_, keys) => {
  fc.assert(
    fc.property(keys, ([key, item]) => {
      expect(readPurgeKey(key)).toEqual(item);
    }),
  );
});

test("a text that is not a purge key is read as null, and shown unchanged", () => {
  for (const other of ["", "a", "//host-without-path", "group:x", "tag:a"]) {
    expect(readPurgeKey(other)).toBeNull();
    expect(purgeItemText(other)).toBe(other);
  }
});
