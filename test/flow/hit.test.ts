import { describe, expect, test } from "vitest";
import { Counters } from "../../worker/insight/counters.ts";
import { type EdgeAnswer, startIsolate } from "../../worker/isolate.ts";
import { toWebResponse } from "../../worker/platform/web-answer.ts";
import { compileSite } from "../../worker/site/site.ts";
import { memoryBodies } from "../engine/memory-bodies.ts";
import { MemoryLog } from "../engine/memory-log.ts";
import { MemoryNotes } from "../engine/memory-notes.ts";
import { MemoryOrigin } from "../engine/memory-origin.ts";
import { MemorySharedTier } from "../engine/memory-shared-tier.ts";
import { BEGINNING, HOST } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";

describe("a memory hit within the lease", () => {
  const scheduler = new Scheduler(1, BEGINNING);
  const origin = new MemoryOrigin(scheduler);
  const log = new MemoryLog(scheduler);
  const io: string[] = [];
  let logAnswers = true;
  const tier = new MemorySharedTier(scheduler, { lostPuts: 0, evictions: 0 });
  const isolate = startIsolate(compileSite({ origin: origin.url, hosts: [HOST] }, {}), {
    clock: {
      now: () => scheduler.now(),
      wait: (ms) => {
        io.push("timer");
        return scheduler.wait(ms);
      },
    },
    random: () => 0.5,
    sharedTier: {
      get: (key) => {
        io.push("look-up");
        return tier.get(key);
      },
      put: (stored) => tier.put(stored),
      delete: (key) => tier.delete(key),
      getBody: (bodyKey, part) => tier.getBody(bodyKey, part),
      putBody: (bodyKey, body) => tier.putBody(bodyKey, body),
    },
    notes: new MemoryNotes(scheduler),
    origin,
    log: {
      read: (since, leaseMs) => (logAnswers ? log.read(since, leaseMs) : new Promise(() => undefined)),
      append: (purge) => log.append(purge),
    },
    audit: log,
    bodies: memoryBodies,
    webRequest: ({ request }) => request as Request,
    fingerprint: async (text) => text,
    tokens: { check: async () => ({ kind: "refused", because: "no-tokens" }) },
    reporter: new Counters(origin.url, () => undefined),
  });
  const behind: Promise<unknown>[] = [];
  const ask = (path = "/a") =>
    isolate.fetch({
      request: new Request(`http://${HOST}${path}`),
      url: `http://${HOST}${path}`,
      background: { run: (work) => void behind.push(work) },
      clientAddress: null,
    });

  test("does no I/O, sets no timer, leaves no work behind, and waits for nothing that could be slow", async () => {
    origin.reply("/a", [{ fields: { "cache-control": "max-age=60" }, body: "v1" }]);
    const first = toWebResponse(await scheduler.settle(Promise.resolve(ask())));
    await scheduler.settle(first.text());
    await scheduler.settle(Promise.all(behind));
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

  test("late in the lease reads the log behind the answer, and still waits for nothing", async () => {
    await scheduler.advance(880);
    const before = log.reads;
    const answer = toWebResponse(await ask());
    expect(answer.headers.get("x-cache")).toBe("HIT");
    expect(behind).toHaveLength(2); // the renewal, and the read that others may join
    await scheduler.settle(Promise.all(behind));
    expect(log.reads).toBe(before + 1);
  });

  test("a page that is not stored is fetched under the view that is held: it does not wait for the log (R1)", async () => {
    await scheduler.advance(5000);
    logAnswers = false;
    origin.reply("/b", [{ fields: { "cache-control": "max-age=60" }, body: "b" }]);
    const fields = toWebResponse(await scheduler.settle(Promise.resolve(ask("/b"))));
    expect(fields.headers.get("x-cache")).toBe("MISS");
    expect(await scheduler.settle(fields.text())).toBe("b");
  });
});
