import { describe, expect, test } from "vitest";
import { CacheKeyMemo } from "../../worker/flow/cache-key-memo.ts";
import { compileSite } from "../../worker/site/site.ts";

const SITE = compileSite({ origin: "http://origin.example.test" }, { hosts: ["www.example.test"] });

const urlOf = (path: string) => `https://www.example.test${path}`;

describe("CacheKeyMemo", () => {
  test("remembers a URL that comes a second time", () => {
    const memo = new CacheKeyMemo(SITE);
    const [first, second, third] = [1, 2, 3].map(() => memo.resolve(urlOf("/a")));
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    expect(third).toEqual(first);
  });

  test("keeps hot URLs, however many come once", () => {
    const memo = new CacheKeyMemo(SITE);
    const hot = Array.from({ length: 100 }, (_, index) => urlOf(`/hot/${index}`));
    for (const url of hot) memo.resolve(url);
    const remembered = hot.map((url) => memo.resolve(url));
    for (let number = 0; number < 20_000; number++) memo.resolve(urlOf(`/once?${number}`));
    expect(hot.filter((url, index) => memo.resolve(url) !== remembered[index])).toEqual([]);
  });

  test("is emptied when 4096 URLs are remembered", () => {
    const memo = new CacheKeyMemo(SITE);
    const comeTwice = (path: string) => [1, 2].map(() => memo.resolve(urlOf(path)))[1];
    const first = comeTwice("/0");
    for (let number = 1; number < 4096; number++) comeTwice(`/${number}`);
    expect(memo.resolve(urlOf("/0"))).toBe(first);
    const last = comeTwice("/4096");
    expect(memo.resolve(urlOf("/0"))).not.toBe(first);
    expect(memo.resolve(urlOf("/4096"))).toBe(last);
  });

  test("remembers no URL of more than 256 characters, and none that is refused", () => {
    const memo = new CacheKeyMemo(SITE);
    for (const url of [urlOf(`/${"x".repeat(256)}`), "https://elsewhere.example.test/"]) {
      const [, second, third] = [1, 2, 3].map(() => memo.resolve(url));
      expect(third).not.toBe(second);
    }
  });
});
