import { describe, expect, test } from "vitest";
import { memoize } from "../../../worker/rules/fields/memoize.ts";

/** A function that is remembered, and how often it was called. */
function counted() {
  let calls = 0;
  const length = memoize((text) => {
    calls++;
    return { length: text.length };
  });
  return { length, calls: () => calls };
}

describe("remembered", () => {
  test("a text is parsed only once", () => {
    const { length, calls } = counted();
    expect([length("max-age=60"), length("public"), length("max-age=60")]).toEqual([
      { length: 10 },
      { length: 6 },
      { length: 10 },
    ]);
    expect(calls()).toBe(2);
  });

  test.each([
    { texts: 256, calls: 256 },
    { texts: 257, calls: 258 },
  ])("$texts texts and the first one again cost $calls parses", ({ texts, calls: expected }) => {
    const { length, calls } = counted();
    for (let text = 0; text < texts; text++) length(`max-age=${text}`);
    expect(length("max-age=0")).toEqual({ length: 9 });
    expect(calls()).toBe(expected);
  });

  test.each([
    { characters: 256, calls: 1 },
    { characters: 257, calls: 2 },
  ])(
    "a text of $characters characters that arrives twice is parsed $calls times",
    ({ characters, calls: expected }) => {
      const { length, calls } = counted();
      for (const text of ["x".repeat(characters), "x".repeat(characters)]) {
        expect(length(text)).toEqual({ length: characters });
      }
      expect(calls()).toBe(expected);
    },
  );
});
