import { expect, test } from "vitest";
import { Sightings } from "../../worker/metrics/sightings.ts";
import { tagPurgeKey } from "../../worker/rules/key/purge-key.ts";
import { usedHeapBytes } from "../suite/used-heap.ts";

const head = (path: string, ...tags: readonly string[]) => ({
  key: `https://www.example.test${path}`,
  givenPurgeKeys: tags.map(tagPurgeKey),
});

test("the tags and the path of a page are taken once, and again after a report", () => {
  const sightings = new Sightings();
  sightings.see(head("/a?x=1", "one", "two"));
  sightings.find(head("/b", "two"));
  expect(sightings.take()).toEqual(["path:/a?x=1", "#one", "#two", "path:/b"]);
  expect(sightings.take()).toEqual([]);
  sightings.find(head("/b", "two"));
  expect(sightings.take()).toEqual(["path:/b", "#two"]);
});

test("a page that is found is looked at once for each report, and one that is stored each time", () => {
  const sightings = new Sightings();
  sightings.find(head("/a", "old"));
  sightings.find(head("/a", "unread"));
  sightings.see(head("/a", "new"));
  expect(sightings.take()).toEqual(["path:/a", "#old", "#new"]);
});

test("a page whose key has more than 512 characters is not held, so it is looked at each time it is found", () => {
  const sightings = new Sightings();
  const ofLength = (length: number) => `/${"a".repeat(length - head("/").key.length)}`;
  for (const tag of ["held", "unread"]) sightings.find(head(ofLength(512), tag));
  for (const tag of ["old", "new"]) sightings.find(head(ofLength(513), tag));
  expect(sightings.take().filter((key) => key.startsWith("#"))).toEqual(["#held", "#old", "#new"]);
});

test("a report holds 100,000 characters of paths, as many more of tags, and says of which kind there were more", () => {
  const sightings = new Sightings();
  const name = (at: number) => String(at).padStart(92, "0");
  for (let at = 0; at < 1100; at++) sightings.see(head(`/${name(at)}`));
  const paths = sightings.keys.size;
  for (let at = 0; at < 900; at++) sightings.see(head("/", name(at)));
  const taken = sightings.take();
  expect(taken.filter((key) => key === "path:" || key === "#")).toEqual(["path:"]);
  expect(paths).toBeLessThan(1002);
  expect(taken.filter((key) => key.startsWith("#"))).toHaveLength(900);
  for (let at = 0; at < 2200; at++) sightings.see(head("/", name(at)));
  expect(sightings.take()).toContain("#");
});

test("a key of more than 512 characters is not remembered", () => {
  const sightings = new Sightings();
  sightings.see(head(`/${"a".repeat(506)}`));
  sightings.see(head(`/${"a".repeat(507)}`));
  expect(sightings.take()).toHaveLength(1);
});

test("pages with long keys that are found take little memory", () => {
  const sightings = new Sightings();
  const before = usedHeapBytes();
  for (let page = 0; page < 250; page++) sightings.find(head(`/${Buffer.alloc(16_000, `${page}-`)}`));
  expect(usedHeapBytes() - before).toBeLessThan(2_000_000);
  expect(sightings.take()).toEqual([]);
});
