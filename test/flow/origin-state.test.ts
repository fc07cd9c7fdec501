import { expect, test } from "vitest";
import { OriginState } from "../../worker/flow/origin/origin-state.ts";

test("a failure of a request that was sent before the last answer does not count", () => {
  const state = new OriginState(2);
  state.noteFailure("/a", 0, 10);
  state.noteAnswer(20);
  state.noteFailure("/b", 5, 30);
  state.noteFailure("/c", 25, 35);
  expect(state.isDown).toBe(false);
  state.noteFailure("/d", 25, 36);
  expect(state.isDown).toBe(true);
});

test("it remembers no more paths than are needed", () => {
  const state = new OriginState(3);
  for (let path = 0; path < 1000; path++) state.noteFailure(`/${path}`, path, path);
  expect(state.isDown).toBe(true);
  expect(state.mayAsk(1001)).toBe(false); // a second after the last path that counted
  expect(state.mayAsk(1002)).toBe(true);
});
