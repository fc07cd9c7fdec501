import { expect, test } from "vitest";
import { SecondLooks } from "../../worker/flow/storing/second-looks.ts";

const place = (route: string, folder = "/") => ({ route, folder });

test("second looks are at most ten, and a tenth of all other requests to the origin", () => {
  const looks = new SecondLooks();
  const taken = (): number => {
    let count = 0;
    while (looks.take()) {
      looks.countRequest(); // a look is a request, too
      count++;
    }
    return count;
  };
  expect(taken()).toBe(10);
  for (let request = 0; request < 100; request++) looks.countRequest();
  expect(taken()).toBe(10);
  for (let request = 0; request < 9; request++) looks.countRequest();
  expect(taken()).toBe(1);
  expect(taken()).toBe(0);
});

test("at most 32 fields are marked at a time, each until its end", () => {
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
