import { expect, test } from "vitest";
import { OriginState } from "../../worker/flow/origin/origin-state.ts";
import type { OriginNews, OriginTalk } from "../../worker/ports/origin-news.ts";

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

test("it remembers only as many paths as it needs", () => {
  const state = new OriginState(3, 30_000);
  for (let path = 0; path < 1000; path++) state.noteFailure(`/${path}`, path, path);
  expect(state.isDown(1000)).toBe(true);
  expect(state.mayAsk(1001)).toBe(false); // a second after the last path that counted
  expect(state.mayAsk(1002)).toBe(true);
});

test("after a minute and the longest answer time without news, every request asks the origin again", () => {
  const state = new OriginState(1, 30_000);
  state.noteFailure("/a", 0, 0);
  expect(state.isDown(89_999)).toBe(true);
  expect(state.isDown(90_000)).toBe(false);
  state.noteFailure("/b", 90_000, 90_001);
  expect(state.isDown(90_002)).toBe(true);
});

test("a clock that was set back neither hides that the origin is down nor keeps anybody from asking it", () => {
  const state = new OriginState(1, 30_000);
  state.noteAnswer(3_600_000);
  state.noteFailure("/a", 0, 10);
  expect(state.isDown(10)).toBe(true);
  state.noteFailure("/a", 3_600_000, 3_600_000);
  expect(state.isDown(90_000)).toBe(false);
  expect(state.isDown(3_590_000)).toBe(true);
  expect(state.mayAsk(3_590_000)).toBe(true);
});

/** Two that hear each other at once, and what was told. */
function talkingStates() {
  const told: OriginNews[] = [];
  const talks = [0, 1].map(
    (index): OriginTalk => ({
      tell: (news) => {
        told.push(news);
        talks[1 - index]!.onNews(news);
      },
      tellSession: () => undefined,
      onNews: () => undefined,
      onSession: () => undefined,
    }),
  );
  const [one, other] = talks.map((talk) => new OriginState(2, 30_000, talk));
  return { one: one!, other: other!, told };
}

test("while everything is answered, isolates send nothing; a failing path is reported once", () => {
  const { one, other, told } = talkingStates();
  for (let now = 0; now < 100; now++) (now % 2 ? one : other).noteAnswer(now);
  expect(told).toEqual([]);
  for (let now = 100; now < 200; now++) one.noteFailure("/a", now, now + 10);
  expect(told).toHaveLength(1);
  expect([one.isDown(300), other.isDown(300)]).toEqual([false, false]);
});

test("an isolate that has had an answer since tells one that counts an older failure", () => {
  const { one, other, told } = talkingStates();
  other.noteAnswer(20);
  one.noteFailure("/a", 5, 30);
  expect(told.map(({ failed, at }) => [failed.length, at])).toEqual([
    [1, 30],
    [0, 20],
  ]);
  one.noteFailure("/b", 25, 35);
  expect([one.isDown(40), other.isDown(40)]).toEqual([false, false]);
  other.noteFailure("/c", 26, 36);
  expect([one.isDown(40), other.isDown(40)]).toEqual([true, true]);
});

test("an isolate keeps only as many reported paths as it needs, and all isolates forget at the same time", () => {
  const { one, other } = talkingStates();
  one.noteFailure("/a", 0, 0);
  one.noteFailure("/b", 0, 5);
  expect(other.mayAsk(1004)).toBe(false);
  expect(other.mayAsk(1005)).toBe(true);
  expect(one.mayAsk(2004)).toBe(false);
  expect([one.isDown(90_004), other.isDown(90_004)]).toEqual([true, true]);
  expect([one.isDown(90_005), other.isDown(90_005)]).toEqual([false, false]);
});

test("after the clock was set back, isolates count failures together as before", () => {
  const { one, other } = talkingStates();
  for (const path of ["/a", "/b"]) one.noteFailure(path, 3_600_000, 3_600_000);
  one.noteFailure("/a", 0, 10);
  other.noteFailure("/b", 11, 20);
  expect([one.isDown(20), other.isDown(20)]).toEqual([true, true]);
});
