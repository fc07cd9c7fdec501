import { expect, test } from "vitest";
import { IdleFields } from "../../worker/flow/second-look/idle-fields.ts";

const place = { route: "/*", folder: "/api/" };
const learnt = (fields: readonly string[], looks = 3): IdleFields => {
  const idle = new IdleFields();
  for (let look = 0; look < looks; look++) idle.learn(place, fields, "alike");
  return idle;
};

test("a field may be left out after three looks that found nothing", () => {
  expect(learnt(["x-a"], 2).mayLeaveOut(place, ["x-a"], true)).toBe(false);
  expect(learnt(["x-a"]).mayLeaveOut(place, ["x-a"], true)).toBe(true);
  expect(learnt(["x-a"]).mayLeaveOut({ ...place, folder: "/" }, ["x-a"], true)).toBe(false);
  expect(learnt(["x-a"]).mayLeaveOut({ ...place, route: "/api/*" }, ["x-a"], true)).toBe(false);
  expect(learnt(["x-a"]).mayLeaveOut(place, ["x-a", "x-b"], true)).toBe(false);
});

test("one of sixteen requests still carries the field", () => {
  const idle = learnt(["x-a"]);
  const left = Array.from({ length: 32 }, () => idle.mayLeaveOut(place, ["x-a"], true));
  expect(left.flatMap((isLeftOut, request) => (isLeftOut ? [] : [request + 1]))).toEqual([16, 32]);
});

test.each(["differs", "unlike"] as const)("a look that finds %s ends it", (because) => {
  const idle = learnt(["x-a", "x-b"]);
  idle.learn(place, ["x-a"], because);
  expect(idle.mayLeaveOut(place, ["x-a"], true)).toBe(false);
  expect(idle.mayLeaveOut(place, ["x-b"], true)).toBe(true);
});

test("looks at requests with cookies or credentials apply only to such requests", () => {
  const idle = learnt(["x-a"]);
  idle.refute(place, ["x-a"], false);
  expect(idle.mayLeaveOut(place, ["x-a"], false)).toBe(false);
  expect(idle.mayLeaveOut(place, ["x-a"], true)).toBe(true);
  idle.refute(place, ["x-a"], true);
  expect(idle.isEmpty).toBe(true);
});

test("the 256 fields that were looked at last are remembered", () => {
  const idle = learnt(["x-a"]);
  for (let field = 1; field <= 255; field++) idle.learn(place, [`x-${field}`], "alike");
  expect(idle.mayLeaveOut(place, ["x-a"], true)).toBe(true);
  idle.learn(place, ["x-256"], "alike");
  expect(idle.mayLeaveOut(place, ["x-a"], true)).toBe(false);
});
