import { expect, test } from "vitest";
import { EarlyPurges, earlyPurgeLine } from "../../../local/dev/early-purges.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("A body is the same as before if the one stored before it under its key was", async () => {
  const early = new EarlyPurges();

  const seen = [];
  for (const [key, body] of [
    ["/a", "v1"],
    ["/b", "v1"],
    ["/a", "v1"],
    ["/a", "v2"],
    ["/a", "v1"],
  ] as const) {
    seen.push(await early.isSameAsBefore(key, bytes(body)));
  }

  expect(seen).toEqual([false, false, true, false, false]);
});

test("A purge counts for two seconds, or until a later one replaces it", () => {
  const early = new EarlyPurges();
  expect(early.purgeBefore(1_000)).toBeNull();

  early.accepted({ seq: 7, at: 1_000 });
  expect([early.purgeBefore(3_000)?.seq, early.purgeBefore(3_001)]).toEqual([7, null]);
  early.accepted({ seq: 8, at: 2_900 });
  expect(early.purgeBefore(3_001)?.seq).toBe(8);
});

test("Findings are reported with their purge, each page once, in words", () => {
  const early = new EarlyPurges();
  const finding = { seq: 7, path: "/a", afterMs: 120 };
  early.found({ ...finding, afterMs: 3 });
  early.found(finding);
  early.found({ seq: 8, path: "/b", afterMs: 5 });

  expect(early.after(7)).toEqual([finding]);
  expect(early.after(9)).toEqual([]);
  expect(earlyPurgeLine(finding)).toBe(
    "/a was fetched again 120 ms after purge 7, and is the same as before. If it should have changed, the purge came before " +
      "the commit: purge after it.",
  );
});

test("Only the latest thousand pages are remembered", async () => {
  const early = new EarlyPurges();
  for (let page = 0; page < 1_001; page++) await early.isSameAsBefore(`/${page}`, bytes("v1"));

  expect(await early.isSameAsBefore("/1", bytes("v1"))).toBe(true);
  expect(await early.isSameAsBefore("/0", bytes("v1"))).toBe(false);
});

test("A purge for which the page was fetched and had changed explains a later one for two seconds", async () => {
  const early = new EarlyPurges();
  const seven = { seq: 7, at: 1_000 };
  const changedFor = (at: number, seq = 8) => early.changeBefore("/a", { seq, at })?.seq;

  await early.isSameAsBefore("/a", bytes("v1"));
  early.refetched("/a", seven); // whether that was a change is unknown
  expect(changedFor(1_500)).toBeUndefined();
  await early.isSameAsBefore("/a", bytes("v1"));
  early.refetched("/a", seven);
  expect(changedFor(1_500)).toBeUndefined();

  await early.isSameAsBefore("/a", bytes("v2"));
  expect(changedFor(1_500)).toBeUndefined(); // by itself
  early.refetched("/a", seven);
  await early.isSameAsBefore("/a", bytes("v2"));
  expect([changedFor(3_000), changedFor(3_001), changedFor(1_500, 7)]).toEqual([7, undefined, undefined]);
  expect(early.changeBefore("/b", { seq: 8, at: 1_500 })).toBeNull();

  await early.isSameAsBefore("/a", bytes("v3"));
  expect(changedFor(1_500)).toBeUndefined();
});
