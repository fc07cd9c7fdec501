import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_TOP_URLS, mergeTopUrls, type TopUrl, TopUrls, withoutQuery } from "../../worker/metrics/top-urls.ts";
import { usedHeapBytes } from "../suite/used-heap.ts";

/** Many requests for few URLs, and few for many: more than are counted at a time. */
const stream = fc.array(
  fc.tuple(
    fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 600 })).map((page) => `http://a.test/${page}`),
    fc.integer({ min: 1, max: 50 }),
  ),
  { maxLength: 1500, size: "max" },
);

type Stream = readonly (readonly [url: string, weight: number])[];

function topOf(counted: Stream): TopUrl[] {
  const top = new TopUrls();
  for (let page = 0; page < 2 * MAX_TOP_URLS; page++) top.add(`http://before.test/${page}`, 1_000);
  top.take(); // It forgets them.
  for (const [url, weight] of counted) top.add(url, weight);
  return top.take();
}

function expectBounds(top: readonly TopUrl[], counted: Stream): void {
  const truth = new Map<string, number>();
  for (const [url, weight] of counted) truth.set(url, (truth.get(url) ?? 0) + weight);
  for (const { url, weight, error } of top) {
    expect(weight).toBeGreaterThanOrEqual(truth.get(url) ?? 0);
    expect(weight - error).toBeLessThanOrEqual(truth.get(url) ?? 0);
  }
  expect(top.length).toBeLessThanOrEqual(MAX_TOP_URLS);
}

test("the true weight of each entry lies between its bounds, these are near, and every heavy URL has an entry", () => {
  fc.assert(
    fc.property(stream, (counted) => {
      const top = topOf(counted);
      expectBounds(top, counted);
      const all = counted.reduce((sum, [, weight]) => sum + weight, 0);
      for (const { error } of top) expect(error).toBeLessThanOrEqual(all / MAX_TOP_URLS);
      const weights = Map.groupBy(counted, ([url]) => url);
      for (const [url, each] of weights) {
        const weight = each.reduce((sum, [, more]) => sum + more, 0);
        if (weight > all / MAX_TOP_URLS) expect(top.map((entry) => entry.url)).toContain(url);
      }
    }),
    { endOnFailure: true }, // To shorten such a stream would take minutes.
  );
});

test("the bounds hold for merged lists, too", { tags: ["deep"] }, () => {
  fc.assert(
    fc.property(stream, stream, stream, (a, b, c) => {
      expectBounds(mergeTopUrls(mergeTopUrls(topOf(a), topOf(b)), topOf(c)), [...a, ...b, ...c]);
    }),
    { endOnFailure: true },
  );
});

test("the same URL is counted apart for each reason", () => {
  const top = new TopUrls();
  for (const because of ["private", "no-store", "private"]) top.add("http://a.test/", 1, because);
  expect(top.take()).toMatchObject([
    { because: "private", weight: 2 },
    { because: "no-store", weight: 1 },
  ]);
});

test.each([
  ["a script", 'http://a.test/<script>alert("1")</script>', "http://a.test/%3Cscript%3Ealert(%221%22)%3C/script%3E"],
  ["quotes and backticks", "http://a.test/'`\\", "http://a.test/%27%60%5C"],
  ["control characters and line ends", "http://a.test/\u001b[2J\r\n\u202e", "http://a.test/%1B[2J%0D%0A%E2%80%AE"],
  ["half of a character", "http://a.test/\ud800", "http://a.test/%EF%BF%BD"],
  ["a name that objects have", "__proto__", "__proto__"],
])("%s in a URL is escaped", (_, url, shown) => {
  const top = new TopUrls();
  top.add(url, 1);
  expect(top.take().map((each) => each.url)).toEqual([shown]);
});

test("a long URL is cut and counted", () => {
  const top = new TopUrls();
  for (const end of ["a", "b"]) top.add(`http://a.test/${"x".repeat(16_000)}${end}`, 1);
  const [entry, ...others] = top.take();
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ weight: 2, times: 2 });
  expect(entry!.url).toHaveLength(201);
});

test.each([
  ["path", (page: number) => `http://a.test/${page}/${"x".repeat(16_000)}`],
  ["query", (page: number) => `http://a.test/a-page-of-the-site/${page}?${"x".repeat(16_000)}`],
])("URLs with a long %s take little memory", (_, urlOf) => {
  const top = new TopUrls();
  const before = usedHeapBytes();
  for (let page = 0; page < 250; page++) top.add(withoutQuery(Buffer.from(urlOf(page)).toString()), 1);
  expect(usedHeapBytes() - before).toBeLessThan(2_000_000);
  expect(top.take()).toHaveLength(MAX_TOP_URLS);
});

test("URLs that look the same once they are escaped are one, with the sum of their weights", () => {
  const top = new TopUrls();
  for (const [url, weight] of [
    ["http://a.test/'", 2],
    ["http://a.test/b", 4],
    ["http://a.test/%27", 3],
  ] as const) {
    top.add(url, weight);
  }
  expect(top.take()).toMatchObject([
    { url: "http://a.test/%27", weight: 5, error: 0, times: 2 },
    { url: "http://a.test/b", weight: 4, error: 0, times: 1 },
  ]);
});
