import { expect, test } from "vitest";
import { IdleFields } from "../../worker/flow/second-look/idle-fields.ts";
import type { LeftOut } from "../../worker/rules/request/second-look.ts";

const place = { route: "/*", folder: "/api/" };
const IDENTIFIER = "0f8fad5b-d9cb-469f-a165-70867728950e";
const sent = (...names: readonly string[]): LeftOut => names.map((name) => [name, "1"]);
const learnt = (fields: LeftOut, looks = 3): IdleFields => {
  const idle = new IdleFields();
  for (let look = 0; look < looks; look++) idle.learn(place, fields, "alike");
  return idle;
};

test("a field may be left out after three looks that found nothing", () => {
  expect(learnt(sent("x-a"), 2).mayLeaveOut(place, sent("x-a"), true)).toBe(false);
  expect(learnt(sent("x-a")).mayLeaveOut(place, sent("x-a"), true)).toBe(true);
  expect(learnt(sent("x-a")).mayLeaveOut({ ...place, folder: "/" }, sent("x-a"), true)).toBe(false);
  expect(learnt(sent("x-a")).mayLeaveOut({ ...place, route: "/api/*" }, sent("x-a"), true)).toBe(false);
  expect(learnt(sent("x-a")).mayLeaveOut(place, sent("x-a", "x-b"), true)).toBe(false);
});

test.each([
  ["only with the value that was compared", "1", "2", false],
  ["only with the whole value", "1", "1, 2", false],
  ["after a look at one identifier with another", IDENTIFIER, "7c9e6679-7425-40de-944b-e07fc1f90ae7", true],
  ["after a look at an identifier with nothing else", IDENTIFIER, "berlin-mitte-7", false],
  ["not after a look at one version with another", "2024-05-01-preview", "2024-09-01-preview", false],
  ["with a value of 256 characters", "a".repeat(256), "a".repeat(256), true],
  ["not with a longer one", "a".repeat(257), "a".repeat(257), false],
])("a field may be left out %s", (_, compared, value, expected) => {
  expect(learnt([["x-a", compared]]).mayLeaveOut(place, [["x-a", value]], true)).toBe(expected);
});

test("one of sixteen requests still carries the field", () => {
  const idle = learnt(sent("x-a"));
  const left = Array.from({ length: 32 }, () => idle.mayLeaveOut(place, sent("x-a"), true));
  expect(left.flatMap((isLeftOut, request) => (isLeftOut ? [] : [request + 1]))).toEqual([16, 32]);
});

test.each(["differs", "unlike"] as const)("a look that finds %s ends it", (because) => {
  const idle = learnt(sent("x-a", "x-b"));
  idle.learn(place, sent("x-a"), because);
  expect(idle.mayLeaveOut(place, sent("x-a"), true)).toBe(false);
  expect(idle.mayLeaveOut(place, sent("x-b"), true)).toBe(true);
});

test("looks at requests with cookies or credentials apply only to such requests", () => {
  const idle = learnt(sent("x-a"));
  idle.refute(place, sent("x-a"), false);
  expect(idle.mayLeaveOut(place, sent("x-a"), false)).toBe(false);
  expect(idle.mayLeaveOut(place, sent("x-a"), true)).toBe(true);
  idle.refute(place, sent("x-a"), true);
  expect(idle.isEmpty).toBe(true);
});

test("the 256 fields that were looked at last are remembered", () => {
  const idle = learnt(sent("x-a"));
  for (let field = 1; field <= 255; field++) idle.learn(place, sent(`x-${field}`), "alike");
  expect(idle.mayLeaveOut(place, sent("x-a"), true)).toBe(true);
  idle.learn(place, sent("x-256"), "alike");
  expect(idle.mayLeaveOut(place, sent("x-a"), true)).toBe(false);
});
