import { expect, test } from "vitest";
import { MAX_SLEEP_MS, systemClock } from "../../sdk/clock.ts";

// These tests use real timers, because the timers are their subject. None waits for longer than a timer of 0 ms.
const reason = new Error("enough");

test("A sleep on the system's clock ends", async () => {
  await expect(systemClock.sleep(0)).resolves.toBeUndefined();
});

test("A sleep whose signal is already aborted rejects at once", async () => {
  await expect(systemClock.sleep(MAX_SLEEP_MS, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("Aborting the signal ends a sleep and leaves no timer behind", async () => {
  const waking = new AbortController();
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();

  const sleeping = systemClock.sleep(MAX_SLEEP_MS, waking.signal);
  expect(timers()).toBe(before + 1);
  waking.abort(reason);

  await expect(sleeping).rejects.toBe(reason);
  expect(timers()).toBe(before);
});
