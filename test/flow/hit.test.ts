import { describe, expect, test } from "vitest";
import type { EdgeAnswer } from "../../worker/isolate.ts";
import { toWebResponse } from "../../worker/runtime/web-answer.ts";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { PopUnderTest } from "./pop-under-test.ts";

describe("a memory hit within the lease", () => {
  const pop = new PopUnderTest();
  const { scheduler, tier, log, behind } = pop;
  const origin = new MemoryOrigin(scheduler);
  const io: string[] = [];
  let logAnswers = true;
  const ask = pop.start(origin, {
    clock: {
      now: () => scheduler.now(),
      wait: (ms) => {
        io.push("timer");
        return scheduler.wait(ms);
      },
    },
    sharedTier: {
      get: (key) => {
        io.push("look-up");
        return tier.get(key);
      },
    },
    log: {
      read: (since, leaseMs) => (logAnswers ? log.read(since, leaseMs) : new Promise(() => undefined)),
      append: (purge) => log.append(purge),
    },
  });

  test("does no I/O, sets no timer, starts no background work, and waits for nothing slow", async () => {
    origin.reply("/a", [{ fields: { "cache-control": "max-age=60" }, body: "v1" }]);
    const first = await pop.head(ask());
    await pop.text(first);
    await pop.finish();
    // Control: a miss does look in the shared tier, and waits for shared reads of the PoP and for the log.
    expect(io.sort()).toEqual(["look-up", "timer", "timer"]);
    io.length = 0;
    behind.length = 0;
    const before = { reads: log.reads, asked: origin.seen.length };

    // Nothing turns the scheduler here, so anything that needed I/O would never return.
    const hit = ask();
    expect(hit).not.toBeInstanceOf(Promise);
    const answer = toWebResponse(hit as EdgeAnswer);
    expect(answer.headers.get("x-cache")).toBe("HIT");
    expect(await answer.text()).toBe("v1");
    expect({ io, behind, reads: log.reads, asked: origin.seen.length }).toEqual({ io: [], behind: [], ...before });
  });

  test("late in the lease reads the log after the answer, and still waits for nothing", async () => {
    await scheduler.advance(880);
    const before = log.reads;
    const answer = toWebResponse(await ask());
    expect(answer.headers.get("x-cache")).toBe("HIT");
    expect(behind).toHaveLength(2); // the renewal, and the read that others may join
    await pop.finish();
    expect(log.reads).toBe(before + 1);
  });

  test("a page that is not stored is fetched under the current view, without waiting for the log (R1)", async () => {
    await scheduler.advance(5000);
    logAnswers = false;
    origin.reply("/b", [{ fields: { "cache-control": "max-age=60" }, body: "b" }]);
    const fields = await pop.head(ask("/b"));
    expect(fields.headers.get("x-cache")).toBe("MISS");
    expect(await pop.text(fields)).toBe("b");
  });
});
