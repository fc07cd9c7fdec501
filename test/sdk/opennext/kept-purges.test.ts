import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PurgeRejected, PurgeTimeout } from "../../../sdk/index.ts";
import { type KeptPurge, KeptPurges, type PurgeStorage } from "../../../sdk/opennext/kept-purges.ts";
import type { Purger } from "../../../sdk/purger.ts";
import { createRecordingPurger } from "../../../sdk/testing.ts";

const purger = createRecordingPurger();
let now: number;
let kept: Map<string, KeptPurge>;
let alarmAt: number | null;
let reports: string[];

const storage: PurgeStorage = {
  put: async (key, value) => void kept.set(key, structuredClone(value)),
  delete: async (key) => kept.delete(key),
  list: async ({ limit }) => new Map([...kept].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit)),
  getAlarm: async () => alarmAt,
  setAlarm: async (at) => {
    alarmAt = at;
  },
};
const purges = (basePath = "") => new KeptPurges(storage, purger, basePath, () => now);

beforeEach(() => {
  purger.reset();
  now = 1_000_000;
  kept = new Map();
  alarmAt = null;
  reports = [];
  vi.spyOn(console, "error").mockImplementation((text) => void reports.push(text));
});
afterEach(() => void vi.restoreAllMocks());

/** What the runtime does at the time of the alarm, in an object that may have been started anew. */
async function ring(): Promise<number> {
  const waitedMs = alarmAt! - now;
  now = alarmAt!;
  alarmAt = null;
  await purges().sendAll();
  return waitedMs;
}

const isDown = () => new PurgeTimeout("no answer", { attempts: 1 });
const reason = "revalidated in Next";

test.each([
  ["a tag", ["song:1"], { tags: ["song:1", "_N_T_unknown"] }],
  ["a path", ["_N_T_/a"], { tags: ["_N_T_/a", "_N_T_unknown"], prefixes: ["/a"] }],
  ["the front page", ["_N_T_/"], { tags: ["_N_T_/", "_N_T_unknown"], urls: ["/"] }],
  ["a tag that no response can carry", ["two words"], { tags: ["_N_T_unknown"] }],
  ["the root layout", ["_N_T_/layout"], { everything: true }],
])("%s is purged, with the pages whose tags are not known, and is not kept", async (_, tags, items) => {
  await purges().purge(tags);
  expect(purger.calls).toEqual([{ ...items, id: expect.any(String), reason }]);
  expect(kept.size).toBe(0);
  expect(reports).toEqual([]);
});

test.each([
  ["a path", "_N_T_/a", { prefixes: ["/docs/a"] }],
  ["the front page", "_N_T_/", { urls: ["/docs", "/docs/"] }],
  ["the root layout", "_N_T_/layout", { prefixes: ["/docs"] }],
])("under a basePath, %s is purged where visitors ask for it", async (_, tag, items) => {
  await purges("/docs").purge([tag]);
  expect(purger.calls).toEqual([{ ...items, tags: [tag, "_N_T_unknown"], id: expect.any(String), reason }]);
});

test.each(["docs", "/docs/", "/"])("%j is no basePath", (basePath) => {
  expect(() => purges(basePath)).toThrow(
    `The variable TIDEMARK_BASE_PATH must be like "/docs", as basePath in next.config (got "${basePath}")`,
  );
});

test("a purge that fails is sent with the same id until the edge accepts it, with growing pauses up to a minute", async () => {
  for (let time = 0; time < 20; time++) purger.failNext(isDown());
  await purges().purge(["a"]);
  const pauses = [await ring()];
  while (kept.size > 0) pauses.push(await ring());
  expect(pauses).toHaveLength(20);
  expect(pauses[0]).toBe(10_000);
  expect(Math.max(...pauses.slice(0, 4))).toBe(10_000);
  expect(Math.min(...pauses.slice(14))).toBeGreaterThanOrEqual(30_000);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000);
  expect(purger.calls).toHaveLength(21);
  expect(new Set(purger.calls.map(({ id }) => id)).size).toBe(1);
  expect(reports).toHaveLength(20);
  expect(reports[0]).toContain("It will be sent again later");
});

test("a purge whose object ends while it is sent is sent by the next one, with the same id", async () => {
  const ids: unknown[] = [];
  const never: Pick<Purger, "purge"> = { purge: (_, options) => new Promise(() => void ids.push(options?.id)) };
  void new KeptPurges(storage, never, "", () => now).purge(["a"]);
  await vi.waitUntil(() => ids.length === 1);
  await ring();
  expect(purger.calls.map(({ id }) => id)).toEqual(ids);
  expect(kept.size).toBe(0);
});

test("later purges do not delay the alarm of a waiting one", async () => {
  purger.failNext(isDown());
  await purges().purge(["a"]);
  now += 5_000;
  await purges().purge(["b"]);
  expect(await ring()).toBe(5_000);
  expect(kept.size).toBe(0);
});

test("a purge that fails once does not wait for the pause of one that has failed for hours", async () => {
  for (let time = 0; time < 15; time++) purger.failNext(isDown());
  await purges().purge(["song:1"]);
  for (let time = 1; time < 15; time++) await ring();
  const pausesUntil = alarmAt!;
  expect(pausesUntil - now).toBeGreaterThan(20_000);
  purger.failNext(isDown());
  await purges().purge(["song:2"]);
  expect(await ring()).toBe(10_000);
  expect(kept.size).toBe(0);
});

test("a purge that the edge will never accept is reported and forgotten, and does not hold up others", async () => {
  purger.failNext(isDown());
  await purges().purge(["a"]);
  purger.failNext(new PurgeRejected("no", { code: "invalid", status: 400, attempts: 1, errors: [] }));
  await purges().purge(["_N_T_/*"]);
  expect(kept.size).toBe(1);
  expect(reports[1]).toContain("It is not sent again, and pages may be stale");
  await ring();
  expect(kept.size).toBe(0);
});

test("after a long failure all are sent, however many wait", async () => {
  for (let count = 0; count < 250; count++) purger.failNext(isDown());
  for (let count = 0; count < 250; count++) await purges().purge([`tag:${count}`]);
  expect(kept.size).toBe(250);
  purger.reset();
  await ring();
  expect(kept.size).toBe(0);
  expect(new Set(purger.calls.map(({ id }) => id)).size).toBe(250);
  expect(alarmAt).toBeNull();
});

test("the first failure at an alarm leaves the others to the next one", async () => {
  for (let count = 0; count < 3; count++) purger.failNext(isDown());
  for (const tag of ["a", "b"]) await purges().purge([tag]);
  await ring();
  expect(purger.calls).toHaveLength(3);
  expect(await ring()).toBe(10_000);
  expect(kept.size).toBe(0);
});

test("a purge that always fails does not keep others from being sent", async () => {
  vi.spyOn(crypto, "randomUUID").mockReturnValueOnce("00000000-0000-4000-8000-000000000000");
  let isDown = true;
  const blocking: Pick<Purger, "purge"> = {
    async purge(request, options) {
      if (isDown || [...(request.tags ?? [])].includes("blocked")) throw new PurgeTimeout("no answer", { attempts: 1 });
      return purger.purge(request, options);
    },
  };
  const purges = new KeptPurges(storage, blocking, "", () => now);
  for (const tag of ["blocked", "a", "b"]) await purges.purge([tag]);
  isDown = false;
  for (let alarms = 0; alarms < 3; alarms++) {
    now = alarmAt!;
    alarmAt = null;
    await purges.sendAll();
  }
  expect([...kept.values()].map(({ request }) => request.tags)).toEqual([["blocked", "_N_T_unknown"]]);
});
