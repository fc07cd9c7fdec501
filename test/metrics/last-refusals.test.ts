import { expect, test } from "vitest";
import { LastRefusals, MAX_REFUSALS } from "../../worker/metrics/last-refusals.ts";

test("so many refusals are remembered, of URLs that are not too long; the oldest goes first", () => {
  const refusals = new LastRefusals();
  const remember = (url: string, at: number) => refusals.remember(url, { because: "set-cookie", at });
  for (let at = 0; at < MAX_REFUSALS; at++) remember(`/${at}`, at);
  remember("/0", MAX_REFUSALS);
  remember("/new", MAX_REFUSALS + 1);
  expect(refusals.of("/1")).toBeUndefined();
  expect(refusals.of("/0")).toEqual({ because: "set-cookie", at: MAX_REFUSALS });
  expect(refusals.of("/new")?.at).toBe(MAX_REFUSALS + 1);
  remember("a".repeat(512), 1);
  remember("a".repeat(513), 1);
  expect(refusals.of("a".repeat(512))).toBeDefined();
  expect(refusals.of("a".repeat(513))).toBeUndefined();
});
