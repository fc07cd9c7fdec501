import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { platform } from "node:process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chances } from "../../engine/chances.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { Day } from "./day.ts";
import { actsOfTheDay, certify, RULES, type Seen } from "./day-acts.ts";
import { aliveNow, descriptorsOpen, heldTooMuch, look, type Sample } from "./day-bounds.ts";
import { HOST, SHOP } from "./day-visitors.ts";
import { TimerQueue, type VirtualTimer } from "./timer-queue.ts";

const REQUESTS = byDepth({ test: 1_000, gate: 1_000, all: 3_000, explore: 20_000 });
/** Enough for the audit trail to be pruned twice: the first time there may be little that is old. */
const PURGES = byDepth({ test: 600, gate: 600, all: 600, explore: 2_000 });

/*
 * The engine's own parts, in one process, through 24 hours in which only the clock is not real: see `VirtualTime`. The
 * same on real sockets, processes and time, for half an hour, is `npm run bench -- endurance`.
 */
describe.skipIf(platform !== "linux")(
  "a day of tidemark serve (open files are read from /proc)",
  { tags: ["deep"] },
  () => {
    let folder: string;
    const seen: Seen = { reloads: [], handshakes: [], afterwards: [], refusals: [] };
    const samples: Sample[] = [];
    let broken: readonly string[] = [];
    let held: readonly string[] = [];
    let timersLeft: readonly VirtualTimer[] = [];
    let descriptorsLeft = 0;
    let day: Day;
    let ledger = 0;

    beforeAll(async () => {
      folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-"));
      const before = descriptorsOpen();
      const others = aliveNow();
      day = new Day({ folder, seed, requests: REQUESTS, purges: PURGES }, Date.UTC(2026, 5, 1));
      const worker = vi.spyOn(console, "error").mockImplementation((line) => day.says(String(line)));
      try {
        certify(day, HOST, 6);
        certify(day, SHOP, 20);
        day.configure(RULES);
        await day.begin();
        await day.pass(actsOfTheDay(seen), async () => void samples.push(await look(day, before)));
        ledger = await day.requestsInLedger();
        broken = await day.rest();
        await day.fallQuiet();
        held = heldTooMuch(day.server.workers.length, others);
        await day.end();
        timersLeft = day.time.timers;
        descriptorsLeft = descriptorsOpen() - before;
      } finally {
        day.time.uninstall();
        worker.mockRestore();
      }
    }, 600_000);
    afterAll(() => rmSync(folder, { recursive: true }));

    test(`keeps its promises to visitors, callers and owner (TEST_SEED=${seed})`, () => {
      expect(broken).toEqual([]);
    });

    test("has seen what a day brings", () => {
      const { seen: answers } = day.record;
      const kinds = ["HIT", "MISS", "EXPIRED", "REVALIDATED", "UPDATING", "STALE", "BYPASS"];
      const statuses = ["GET 200", "GET 206", "GET 404", "HEAD 200", "POST 200", "GET 502", "GET 503", "GET 504"];
      const missing = [...kinds, ...statuses].filter((each) => !answers.has(each));
      expect(missing).toEqual([]);
      expect(day.purges.accepted).toBeGreaterThan(PURGES * 0.7);
      // Those of the minutes in which the log was silent for a worker.
      expect(day.purges.accepted - day.purges.settledAtOnce).toBeGreaterThan(0);
      expect(seen.refusals).toEqual(Array(10).fill(401));
    });

    test("takes settings that are valid, and no others", () => {
      expect(seen.reloads).toEqual([false, true, true, true]);
      expect(day.saidAt("01")).toContainEqual(expect.stringMatching(/the old settings stay in use: .*routes/s));
    });

    test("shows the certificate of the last reload, and names those that are over", () => {
      const [first, second] = seen.handshakes.map(({ fingerprint }) => fingerprint);
      expect(first).not.toBe(second);
      expect(seen.handshakes.every(({ answer }) => answer.startsWith("HTTP/1.1 200 "))).toBe(true);
      const named = (name: string, words: string) => expect.stringMatching(new RegExp(`\\(${name}\\) ${words}`));
      expect(day.saidAt("04")).toContainEqual(named(HOST, "expires in 0 days"));
      expect(day.saidAt("05")).not.toContainEqual(named(HOST, ""));
      expect(day.saidAt("07")).toContainEqual(named(SHOP, "expires in 0 days"));
      expect(day.saidAt("22")).toContainEqual(named(SHOP, "expired at 2026-06-01T20"));
    });

    test("resumes sessions at other workers, until the key of their tickets is over", () => {
      expect(seen.handshakes.map(({ isResumed }) => isResumed)).toEqual([false, false, false, true, false]);
    });

    test("keeps its pages over reloads, upgrades and restarts", () => {
      expect(seen.afterwards).toEqual(Array(10).fill("HIT"));
    });

    test("says when origin, log and disk fail, and when they work again", () => {
      for (const [hour, words] of [
        ["03", /The purge log cannot be reached/],
        ["03", /The purge log answers again/],
        ["06", /The origin .* cannot be reached/],
        ["06", /The origin .* answers again/],
        ["10", /The origin .* took too long/],
        ["11", /The purge log cannot be reached/],
        ["12", /The cache in .* cannot be used \(ENOSPC: the disk is full\)/],
        ["13", /The cache in .* works again/],
      ] as const) {
        expect(day.saidAt(hour)).toContainEqual(expect.stringMatching(words));
      }
    });

    test("logs each request once, in files that are rotated, and counts it in the ledger", () => {
      const files = readdirSync(folder).filter((name) => name.startsWith("access.log"));
      const lines = files.flatMap((name) => readFileSync(join(folder, name), "latin1").trim().split("\n"));
      const { visits = 0, calls = 0 } = Object.fromEntries(day.record.seen);
      expect(files).toHaveLength(3);
      expect(lines.filter((line) => !/^unix: - - \[.*\] ".*" \d{3} /.test(line))).toEqual([]);
      expect(lines.length).toBe(visits + calls + seen.handshakes.length);
      expect(ledger).toBe(visits + seen.handshakes.length);
    });

    test("holds no more in the evening than its bounds allow", () => {
      expect(held).toEqual([]);
      expect(samples).toHaveLength(24);
      const [noon, night] = [samples[12]!, samples[23]!];
      // Hours and days add a row, and minutes are forgotten.
      expect(night.ledgerRows - noon.ledgerRows).toBeLessThan(40);
      expect(night.descriptors - noon.descriptors).toBeLessThan(60);
      expect(night.timers - noon.timers).toBeLessThan(20);
      // Purges of three hours, of those of a day.
      expect(Math.max(...samples.map(({ auditRows }) => auditRows))).toBeLessThan(day.purges.accepted * 0.9);
    });

    test("leaves no timer and no open file behind", () => {
      expect(timersLeft.map(({ calls }) => calls)).toEqual([]);
      expect(descriptorsLeft).toBeLessThanOrEqual(0);
    });
  },
);

test("the timers of a day ring in their order, those of one moment in that in which they were set, and cleared ones never", () => {
  const random = chances(seed);
  const queue = new TimerQueue();
  const rung: number[] = [];
  const set = Array.from({ length: 1_000 }, (_, number) => {
    const ms = Math.floor(random() * 100);
    return {
      number,
      ms,
      timer: queue.add(
        () => rung.push(number),
        ms,
        false,
        () => 0,
      ),
    };
  });
  const cleared = set.filter(() => random() < 0.3);
  for (const { timer } of cleared) queue.clear(timer);
  for (let due = queue.next(1_000); due !== undefined; due = queue.next(1_000)) due.ring();
  const left = set.filter((each) => !cleared.includes(each));
  expect(rung).toEqual(left.toSorted((one, other) => one.ms - other.ms).map(({ number }) => number));
});
