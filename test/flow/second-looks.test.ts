import { expect, test } from "vitest";
import { placeOf } from "../../worker/flow/second-look/place.ts";
import { SecondLooks } from "../../worker/flow/second-look/second-looks.ts";
import type { Route } from "../../worker/rules/key/route.ts";

const place = (route: string, folder = "/") => ({ route, folder });

test("there are at most ten second looks at once, and one for ten other fetches", () => {
  const looks = new SecondLooks();
  const taken = (): number => {
    let count = 0;
    while (looks.take()) count++;
    return count;
  };
  expect(taken()).toBe(10);
  for (let answer = 0; answer < 100; answer++) looks.countAnswer();
  expect(taken()).toBe(10);
  for (let answer = 0; answer < 10; answer++) looks.countAnswer();
  expect(taken()).toBe(1);
  expect(taken()).toBe(0);
});

test("at most 32 fields are marked at a time, each until its time ends", () => {
  const looks = new SecondLooks();
  expect(looks.hasMarks).toBe(false);
  for (let field = 1; field <= 32; field++) expect(looks.mark(place("/a"), `x-${field}`, 1000, 0)).toBe(true);
  expect(looks.mark(place("/a"), "x-33", 2000, 999)).toBe(false);
  expect(looks.mark(place("/a"), "x-32", 2000, 999)).toBe(true);
  expect(looks.markedField(place("/a"), (field) => field === "x-33", 999)).toBeUndefined();
  expect(looks.markedField(place("/a"), (field) => field === "x-1", 999)).toBe("x-1");
  expect(looks.markedField(place("/a"), (field) => field === "x-1", 1000)).toBeUndefined();
  expect(looks.markedField(place("/b"), (field) => field === "x-32", 999)).toBeUndefined();
  expect(looks.mark(place("/a"), "x-33", 2000, 1000)).toBe(true);
  expect(looks.markedField(place("/a"), (field) => field === "x-32", 1999)).toBe("x-32");
});

test("a field that changes pages in four folders of a route is marked on the whole route", () => {
  const looks = new SecondLooks();
  const isMarked = (folder: string) => looks.markedField(place("/*", folder), () => true, 0) !== undefined;
  for (const folder of ["/a/", "/b/", "/c/"]) looks.mark(place("/*", folder), "x-a", 1000, 0);
  expect(["/a/", "/b/", "/c/", "/d/"].map(isMarked)).toEqual([true, true, true, false]);
  looks.mark(place("/*", "/d/"), "x-a", 1000, 0);
  expect(["/a/", "/d/", "/e/"].map(isMarked)).toEqual([true, true, true]);
  expect(looks.markedField(place("/other", "/a/"), () => true, 0)).toBeUndefined();
});

test("the folder of a page is its path up to the last slash", () => {
  const folderOf = (pathAndQuery: string) => placeOf({ route: { pattern: "/*" } as Route, pathAndQuery }).folder;
  expect(["/", "/a", "/a/", "/a/b?c=/d/e"].map(folderOf)).toEqual(["/", "/", "/a/", "/a/"]);
});
