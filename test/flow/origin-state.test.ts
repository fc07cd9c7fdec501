import { expect, test } from "vitest";
import { OriginState } from "../../worker/flow/origin/origin-state.ts";

test("a failure of a request that was sent before the last answer does not count", () => {
  const state = new OriginState(2, 30_000);
  state.noteFailure("/a", 0, 10);
  state.noteAnswer(20);
  state.noteFailure("/b", 5, 30);
  state.noteFailure("/c", 25, 35);
  expect(state.isDown(35)).toBe(false);
  state.noteFailure("/d", 25, 36);
  expect(state.isDown(36)).toBe(true);
});

test("it remembers no more paths than are needed", () => {
  const state = new OriginState(3, 30_000);
  for (let path = 0; path < 1000; path++) state.noteFailure(`/${path}`, path, path);
  expect(state.isDown(1000)).toBe(true);
  expect(state.mayAsk(1001)).toBe(false); // a second after the last path that counted
  expect(state.mayAsk(1002)).toBe(true);
});

test("an origin of which nobody has heard for a minute, and as long as an answer may take, is asked again by everybody", () => {
  const state = new OriginState(1, 30_000);
  state.noteFailure("/a", 0, 0);
  expect(state.isDown(89_999)).toBe(true);
  expect(state.isDown(90_000)).toBe(false);
  state.noteFailure("/b", 90_000, 90_001);
  expect(state.isDown(90_002)).toBe(true);
});
