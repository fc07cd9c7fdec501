import { describe, expect, test } from "vitest";
import { throttleWrongTokens } from "../../worker/control/access/wrong-token-throttle.ts";
import type { Tokens, TokenVerdict } from "../../worker/ports/access.ts";
import { Scheduler } from "../engine/scheduler.ts";

const RIGHT = "right";
const SCOPELESS = "scopeless";
const tokens: Tokens = {
  check: async (token): Promise<TokenVerdict> => {
    if (token === RIGHT) return { kind: "allowed", name: "owner" };
    return { kind: "refused", because: token === SCOPELESS ? "forbidden" : "unauthorized" };
  },
};

/** Calls with a token, and returns after how many milliseconds the answer came. */
function start() {
  const clock = new Scheduler(1, 0);
  const reported: string[] = [];
  const slow = throttleWrongTokens(tokens, clock, { report: ({ kind }) => void reported.push(kind) });
  const askedFor = async (token: string | null) => {
    const askedAt = clock.now();
    let tookMs: number | undefined;
    void slow.check(token, "purge").then(() => {
      tookMs = clock.now() - askedAt;
    });
    for (let waited = 0; tookMs === undefined && waited <= 10_000; waited += 250) await clock.advance(waited && 250);
    return tookMs;
  };
  return { clock, reported, askedFor };
}

describe("wrong tokens", () => {
  test("are refused at once five times, and then each with a longer delay, up to a bound", async () => {
    const { askedFor, reported } = start();
    const tookMs: (number | undefined)[] = [];
    for (let index = 0; index < 12; index++) tookMs.push(await askedFor("wrong"));
    expect(tookMs).toEqual([0, 0, 0, 0, 0, 250, 500, 1000, 2000, 4000, 8000, 8000]);
    expect(reported).toEqual(Array(12).fill("token-refused"));
  });

  test("delay neither a right token nor a token without the scope", async () => {
    const { askedFor } = start();
    for (let index = 0; index < 8; index++) await askedFor("wrong");
    expect(await askedFor(RIGHT)).toBe(0);
    expect(await askedFor(SCOPELESS)).toBe(0);
    expect(await askedFor(null)).toBe(0);
    expect(await askedFor("wrong")).toBe(2000);
  });

  test.each([
    { afterMs: 59_999, tookMs: 500 },
    { afterMs: 60_000, tookMs: 0 },
  ])("$afterMs ms after the last wrong token, another is answered after $tookMs ms", async ({ afterMs, tookMs }) => {
    const { askedFor, clock } = start();
    for (let index = 0; index < 6; index++) await askedFor("wrong");
    await clock.advance(afterMs - 250); // the last one was counted at its arrival, and answered 250 ms later
    expect(await askedFor("wrong")).toBe(tookMs);
  });
});
