import { expect, test } from "vitest";
import { readPurgeItems } from "../../../local/purge-items.ts";
import {
  EVERYTHING_PURGE_KEY,
  groupPurgeKey,
  hostPurgeKey,
  pathPurgeKey,
  prefixPurgeKey,
  tagPurgeKey,
  urlPurgeKey,
} from "../../../worker/rules/key/cache-key.ts";
import { purgeItemText } from "../../../worker/rules/key/purge-key.ts";

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

test("everything and groups are told by their names", () => {
  expect(purgeItemText(EVERYTHING_PURGE_KEY)).toBe("everything");
  expect(purgeItemText(groupPurgeKey({ scheme: "https", host: "a.test" }, "news"))).toBe("group:https://a.test news");
});

test("no two kinds of items meet in one key", () => {
  const keys = [
    ...items.map(({ key }) => key),
    prefixPurgeKey("//m.example.test/shop"),
    pathPurgeKey("//m.example.test/a"),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
