import { expect, test } from "vitest";
import { LONGEST_SLEEP_MS, systemClock } from "../../sdk/clock.ts";

// The one place where the real timers are the subject: nothing here lasts longer than a timer of 0 ms.
const reason = new Error("enough");

test("The system's clock wakes who slept", async () => {
  await expect(systemClock.sleep(0)).resolves.toBeUndefined();
});

test("The system's clock does not let anyone sleep whose signal was aborted before", async () => {
  await expect(systemClock.sleep(LONGEST_SLEEP_MS, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("The system's clock wakes who slept when the signal is aborted, and leaves no timer behind", async () => {
  const waking = new AbortController();
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();

  const sleeping = systemClock.sleep(LONGEST_SLEEP_MS, waking.signal);
  expect(timers()).toBe(before + 1);
  waking.abort(reason);

  await expect(sleeping).rejects.toBe(reason);
  expect(timers()).toBe(before);
});
