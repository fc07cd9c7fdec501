import { expect, test } from "vitest";
import type { Explanation } from "../../wire/explanation.ts";
import { stepTexts } from "../../wire/text/explanation-text.ts";

const MISS: Explanation = {
  version: 1,
  url: "https://www.example.test/a",
  method: "GET",
  route: null,
  key: "https://www.example.test/a",
  dropped: [],
  memory: null,
  sharedTier: null,
  purge: null,
  outcome: { xCache: "MISS", detail: null },
  steps: [],
  nearest: [],
};

test("the last sentence of a miss says why and when the last answer was not stored", () => {
  const lastRefusal = { because: "set-cookie", at: "2026-01-01T12:00:00.000Z" };
  expect(stepTexts({ ...MISS, lastRefusal }).at(-1)).toBe(
    "The last answer, at 2026-01-01T12:00:00.000Z, was not stored: set-cookie.",
  );
});

test.each([
  ["stale-if-error", /^If the origin fails, .*: stale-if-error allows it\.$/],
  ["stale.ifError", /^If the origin fails, .*: stale\.ifError of the site allows it\.$/],
  ["stale.ifDisconnected", /^If the origin gives no answer, .*: stale\.ifDisconnected of the site allows it\.$/],
])("a sentence says that %s allows a stale answer", (because, text) => {
  expect(stepTexts({ ...MISS, steps: [{ step: "stale-if-error", because }] }).at(-1)).toMatch(text);
});
