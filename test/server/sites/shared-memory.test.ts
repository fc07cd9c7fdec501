import { describe, expect, test } from "vitest";
import { SharedMemory } from "../../../server/program/shared-memory.ts";
import { MemoryTier } from "../../../worker/store/memory-tier.ts";
import { storedHead } from "../../rules/storing/stored-head.ts";

const KiB = 1024;
const BOUND_BYTES = 200 * KiB;

function page(path: string, bytes = 4 * KiB) {
  const head = storedHead({ key: `http://same.test${path}`, bodyBytes: bytes });
  return { head, body: new Uint8Array(bytes) };
}

function twoSites() {
  const memory = new SharedMemory(BOUND_BYTES);
  return ["shop", "blog"].map((site) => new MemoryTier(BOUND_BYTES, null, memory.of(site))) as [MemoryTier, MemoryTier];
}

describe("memory that sites share", () => {
  test("no site finds, lists, replaces or deletes what is another's under the same key", () => {
    const [shop, blog] = twoSites();
    const [ofShop, ofBlog] = [page("/a"), page("/a")];
    shop.put(ofShop);
    expect([blog.get(ofShop.head.key), blog.size, [...blog.keys()]]).toEqual([undefined, 0, []]);
    blog.put(ofBlog);
    expect(shop.get(ofShop.head.key)).toBe(ofShop);
    expect(blog.peek(ofShop.head.key)).toBe(ofBlog);
    shop.delete(ofShop.head.key);
    expect([shop.size, shop.heldBytes]).toEqual([0, 0]);
    expect(blog.get(ofBlog.head.key)).toBe(ofBlog);
    expect([...blog.keys()]).toEqual([ofBlog.head.key]);
  });

  test("the bound is that of all sites together, and each counts what it holds", () => {
    const [shop, blog] = twoSites();
    for (let number = 0; number < 200; number++) {
      shop.put(page(`/${number}`));
      if (number % 2 === 0) blog.put(page(`/${number}`, 2 * KiB));
      expect(shop.heldBytes + blog.heldBytes).toBeLessThanOrEqual(BOUND_BYTES);
    }
    expect(shop.size).toBeGreaterThan(0);
    expect(blog.size).toBeGreaterThan(0);
    for (const site of [shop, blog]) {
      expect([...site.keys()]).toHaveLength(site.size);
      for (const key of [...site.keys()]) site.delete(key);
      expect([site.size, site.heldBytes]).toEqual([0, 0]);
    }
  });

  test("pages that are requested stay, while another site is crawled", () => {
    const [shop, blog] = twoSites();
    const wanted = Array.from({ length: 10 }, (_, number) => page(`/wanted/${number}`));
    for (const each of wanted) shop.put(each);
    for (let number = 0; number < 2000; number++) {
      blog.put(page(`/crawled/${number}`));
      shop.get(wanted[number % wanted.length]!.head.key);
    }
    expect(wanted.filter(({ head }) => shop.peek(head.key) !== undefined)).toHaveLength(wanted.length);
  });

  test("what is held beside a body counts for its site, and within the bound of all", () => {
    const memory = new SharedMemory(BOUND_BYTES);
    const beside = new Map<Uint8Array, number>();
    const [shop, blog] = ["shop", "blog"].map(
      (site) => new MemoryTier(BOUND_BYTES, null, memory.of(site), (body) => beside.get(body) ?? 0),
    ) as [MemoryTier, MemoryTier];
    const [ofShop, ofBlog] = [page("/a"), page("/a")];
    shop.put(ofShop);
    blog.put(ofBlog);
    const [inShop, inBlog] = [shop.heldBytes, blog.heldBytes];
    beside.set(ofShop.body, 3 * KiB);
    shop.weighAgain(ofShop.head.key);
    shop.weighAgain("http://same.test/not-held");
    expect([shop.heldBytes, blog.heldBytes]).toEqual([inShop + 3 * KiB, inBlog]);
    for (let number = 0; number < 200; number++) {
      const each = page(`/${number}`);
      shop.put(each);
      beside.set(each.body, 4 * KiB);
      shop.weighAgain(each.head.key);
      expect(shop.heldBytes + blog.heldBytes).toBeLessThanOrEqual(BOUND_BYTES);
    }
    for (const key of [...shop.keys()]) shop.delete(key);
    expect([shop.size, shop.heldBytes]).toEqual([0, 0]);
  });
});
