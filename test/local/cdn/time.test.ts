import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { stat } from "node:fs/promises";
import { mock } from "node:test";
import { promisify } from "node:util";
import { type Cdn, type CdnOptions, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import "tidemark/local/matchers";
import { runScript } from "../../packed/run-script.ts";
import { page } from "./pages.ts";

const CHECK_TIMERS = import.meta.resolve("../../../local/cdn/check-timers.ts");

let cdn: Cdn<"fra" | "syd">;

beforeAll(async () => {
  cdn = await startCdn({ site: { purge: { leaseMs: 1000 } }, regions: ["fra", "syd"] });
});

afterAll(() => cdn.close());

test("after an hour a page is an hour older in every region", { tags: ["deep"] }, async () => {
  cdn.origin.reply("/hour", page("v1"));
  await cdn.get("/hour", { from: "fra" });
  await cdn.get("/hour", { from: "syd" });
  await cdn.advance("1h");
  await expect(cdn.get("/hour", { from: "fra" })).toHaveAgeAbout(3600);
  await expect(cdn.get("/hour", { from: "syd" })).toHaveAgeAbout(3600);
});

test("after its lifetime a page is fetched again", async () => {
  cdn.origin.reply("/old", page("v1"), page("v2"));
  await cdn.get("/old");
  await cdn.advance("7199s");
  await expect(cdn.get("/old")).toHit();
  await cdn.advance("1s");
  expect(await cdn.get("/old")).toMatchObject({ xCache: "EXPIRED", body: "v2" });
});

test("a lease stays valid while time stands still, and a lapsed lease makes the PoP read the log", async () => {
  cdn.origin.reply("/lease", page("v1"));
  await cdn.get("/lease");
  const { log: before } = await cdn.stats();
  await cdn.get("/lease");
  expect((await cdn.stats()).log).toEqual(before);
  await cdn.advance("1s");
  await cdn.get("/lease");
  expect((await cdn.stats()).log.reads).toBe(before.reads + 1);
});

test("the purge log runs on the CDN's time", async () => {
  const receipt = await cdn.purger.purgeUrls("/any");
  expect(Date.parse(receipt.at)).toBe(cdn.now);
});

test("a repeated purge takes effect in every region once it is due", async () => {
  cdn.origin.reply("/replica", page("old"), page("old"), page("old"), page("new"), page("new"));
  await cdn.get("/replica", { from: "fra" });
  const receipt = await cdn.purger.purgeUrls("/replica", { repeatAfterMs: 60_000 });
  await cdn.settle(receipt);
  await cdn.get("/replica", { from: "fra" }); // from a replica that lags
  await cdn.get("/replica", { from: "syd" });
  await cdn.advance("59s");
  await cdn.advance("2s");
  expect(await cdn.get("/replica", { from: "fra" })).toMatchObject({ xCache: "MISS", body: "new" });
  expect(await cdn.get("/replica", { from: "syd" })).toMatchObject({ xCache: "MISS", body: "new" });
});

test.each(["99999999999d", "36501d", "-99999999999d"] as const)(
  "a time of %s, which could not be undone, changes nothing",
  async (by) => {
    const { now } = cdn;
    const refusal = new RangeError(`"${by}" is too long: write at most "36500d", which is a hundred years.`);
    await expect(cdn.advance(by)).rejects.toEqual(refusal);
    await expect(cdn.skew("syd", by)).rejects.toEqual(refusal);
    expect(cdn.now).toBe(now);
  },
);

/** The processes of this one's purge logs, which have files open in the folder `log` of a CDN. */
function processesOfLogs(): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const [, parent] = /^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8"))!;
      if (Number(parent) !== process.pid) return [];
      const open = readdirSync(`/proc/${name}/fd`).map((fd) => readlinkSync(`/proc/${name}/fd/${fd}`));
      return open.some((path) => /\/tidemark-cdn-[^/]+\/log\//.test(path)) ? [Number(name)] : [];
    } catch {
      return []; // It is no process, or has ended since.
    }
  });
}

test("a log that stands still on a slow machine changes no answer", async () => {
  const site = { purge: { leaseMs: 100 }, routes: [{ match: "/meanwhile", pass: true }] };
  const origin = { "/still": [page("v1"), page("v2")], "/meanwhile": { delayMs: 1000 } };
  const others = processesOfLogs();
  await using still = await startCdn({ site, origin });
  await still.get("/still");
  await still.advance("1s");
  const log = processesOfLogs().find((id) => !others.includes(id))!;
  process.kill(log, "SIGSTOP");
  try {
    const answer = still.get("/still");
    await still.get("/meanwhile");
    process.kill(log, "SIGCONT");
    expect(await answer).toMatchObject({ xCache: "HIT", body: "v1" });
  } finally {
    process.kill(log, "SIGCONT");
  }
});

test("a log that is far away is waited for no longer than where the edge is deployed", async () => {
  const site = { purge: { leaseMs: 100 } };
  const origin = { "/far": [page("v1"), page("v2")] };
  await using far = await startCdn({ site, origin, latency: { local: { logMs: 1000 } } });
  await far.get("/far");
  await far.advance("1s");
  const { body, cacheStatus } = await far.get("/far");
  expect([body, cacheStatus]).toEqual(["v2", expect.stringContaining("detail=purge-state-unknown")]);
});

test("the skewed clock of one PoP does not affect the others", { tags: ["deep"] }, async () => {
  cdn.origin.reply("/skewed", page("v1"));
  await cdn.get("/skewed", { from: "fra" });
  await cdn.get("/skewed", { from: "syd" });
  await cdn.skew("syd", "1h");
  await expect(cdn.get("/skewed", { from: "syd" })).toHaveAgeAbout(3600);
  await expect(cdn.get("/skewed", { from: "fra" })).toHaveAgeAbout(0);
  await cdn.skew("syd", "0s");
});

test("time does not go back, and a duration needs a unit", async () => {
  const before = cdn.now;
  await expect(cdn.advance("-1ms")).rejects.toThrow("time cannot go back");
  // @ts-expect-error A unit that does not exist.
  await expect(cdn.advance("1 hour")).rejects.toThrow('"1 hour" is not a duration');
  // @ts-expect-error A number without a unit.
  await expect(cdn.advance(90)).rejects.toThrow('90 has no unit. Write "90s" or "90ms".');
  // @ts-expect-error A number without a unit.
  await expect(cdn.skew("syd", 0)).rejects.toThrow('Write "0s" or "0ms"');
  expect([cdn.now, cdn.pop("syd").now]).toEqual([before, before]);
});

test("a week and a day have their lengths, for a clock that is wrong as for all", async () => {
  await cdn.skew("syd", "-2w");
  expect(cdn.pop("syd").now - cdn.now).toBe(-14 * 86_400_000);
  await cdn.skew("syd", "1.5d");
  expect(cdn.pop("syd").now - cdn.now).toBe(36 * 3_600_000);
  await cdn.skew("syd", "0s");
});

test("a request's own fields come before those for its token and for a receipt", async () => {
  const fields = { authorization: "Bearer own", "tidemark-after": "own" };
  const asked = await cdn.get("/own", { token: "other", after: "other", fields });
  expect(asked.request.fields).toEqual(fields);
  expect(cdn.origin.seen.at(-1)?.fields).toMatchObject({ authorization: "Bearer own" });
});

test("a visitor's request cannot change the time", async () => {
  cdn.origin.reply("/still", page("v1"));
  await cdn.get("/still");
  await cdn.get("/still", { fields: { date: "Fri, 01 Jan 2100 00:00:00 GMT", "x-now": "9999999999999" } });
  await expect(cdn.get("/still")).toHaveAgeAbout(0);
});

/** What starts runtimes, each with its name in messages. */
function startsOf(
  faked: Cdn,
  starting: CdnOptions,
): readonly (readonly [name: string, call: () => Promise<unknown>])[] {
  return [
    ["startCdn", () => startCdn(starting)],
    ["cdn.reset", () => faked.reset()],
    ["cdn.log.restart", () => faked.log.restart()],
    ["pop.restart", () => faked.pop().restart()],
  ];
}

test.each([
  ["vitest", () => vi.useFakeTimers(), () => vi.useRealTimers()],
  [
    "node:test",
    () => mock.timers.enable({ apis: ["Date", "setTimeout", "setInterval", "setImmediate"] }),
    () => mock.timers.reset(),
  ],
])("with the fake timers of %s a CDN answers and does not start, in words", async (_, fake, restore) => {
  cdn.origin.reply("/faked", page("v1"));
  fake();
  try {
    const refusals = startsOf(cdn, { site: {} }).map(([name, call]) =>
      expect(call()).rejects.toThrow(`${name}: setImmediate`),
    );
    await Promise.all(refusals);
    expect(await cdn.get("/faked")).toMatchObject({ status: 200, body: "v1" });
  } finally {
    restore();
  }
});

test("with the fake timers of node:test a CDN stops, and leaves the fakes as they were", async () => {
  const faked = await startCdn({ site: {} });
  mock.timers.enable({ apis: ["Date", "setTimeout", "setInterval", "setImmediate"] });
  const { setImmediate } = globalThis;
  try {
    await faked.close();
    expect(globalThis.setImmediate).toBe(setImmediate);
  } finally {
    mock.timers.reset();
  }
});

test.each(["queueMicrotask", "setTimeout"] as const)(
  "with a fake %s alone a CDN does not start, in words",
  async (name) => {
    vi.useFakeTimers({ toFake: [name] });
    try {
      await expect(startCdn({ site: {} })).rejects.toThrow(
        `startCdn: ${name} is faked, and the CDN's runtime hangs without it. Fake the Date alone: ` +
          'vi.useFakeTimers({ toFake: ["Date"] }),',
      );
    } finally {
      vi.useRealTimers();
    }
  },
);

test("a log stops with a fake setTimeout, and starts again without it", { tags: ["deep"] }, async () => {
  await using faked = await startCdn({ site: {}, origin: { "/faked": page("v1") } });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await faked.log.stop();
  } finally {
    vi.useRealTimers();
  }
  await faked.log.start();
  expect(await faked.purger.purgeUrls("/faked")).toMatchObject({ seq: 1 });
});

test("a CDN stops with a fake setTimeout", { tags: ["deep"] }, async () => {
  const faked = await startCdn({ site: {} });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await faked.close();
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ["in the past", Date.UTC(2020, 0, 1)],
  ["10 minutes ahead", Date.now() + 600_000],
])("with a fake Date %s a CDN answers, and does not start, in words", async (_, date) => {
  cdn.origin.reply("/faked", page("v1"));
  vi.useFakeTimers({ toFake: ["Date"], now: date });
  try {
    const message = `Date is faked: it says ${new Date(date).toISOString()}, and the machine's clock `;
    for (const [name, call] of startsOf(cdn, { site: {} })) await expect(call()).rejects.toThrow(`${name}: ${message}`);
    expect(await cdn.get("/faked")).toMatchObject({ status: 200, body: "v1" });
  } finally {
    vi.useRealTimers();
  }
});

test("with a fake Date near the machine's a CDN starts", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  try {
    await using faked = await startCdn({ site: {}, origin: { "/faked": page("v1") } });
    expect(await faked.get("/faked")).toMatchObject({ status: 200, body: "v1" });
  } finally {
    vi.useRealTimers();
  }
});

test("with fake timers that advance by themselves a CDN starts, is reset and stops", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true, now: Date.now() + 60_000 });
  try {
    const faked = await startCdn({ site: {}, origin: { "/faked": page("v1") } });
    await faked.reset();
    expect(await faked.get("/faked")).toMatchObject({ status: 200, body: "v1" });
    await faked.log.restart();
    await faked.close();
  } finally {
    vi.useRealTimers();
  }
});

test("a CDN that was loaded with fake timers starts with real ones, and stops with fakes", {
  tags: ["deep"],
}, async () => {
  const script = `
    import { mock } from "node:test";
    mock.timers.enable({ apis: ["setImmediate"] });
    const { startCdn } = await import("tidemark/local");
    mock.timers.reset();
    const cdn = await startCdn({ site: {}, origin: { "/loaded": { body: "v1" } } });
    console.log((await cdn.get("/loaded")).body);
    mock.timers.enable({ apis: ["setImmediate"] });
    await cdn.close();`;
  const ended = await runScript(script);
  expect(ended).toEqual({ exit: 0, stdout: "v1\n", stderr: "" });
});

test("timers that were faked when a CDN was loaded are real while it stops", async () => {
  const script = `
    import { mock } from "node:test";
    mock.timers.enable({ apis: ["setImmediate"] });
    const { checkStart, withRealTimers } = await import(${JSON.stringify(CHECK_TIMERS)});
    mock.timers.reset();
    await checkStart("startCdn");
    mock.timers.enable({ apis: ["setImmediate"] });
    const fake = setImmediate;
    await withRealTimers("cdn.close", () => new Promise((resolve) => setImmediate(resolve)));
    console.log(setImmediate === fake);`;
  const ended = await runScript(script);
  expect(ended).toEqual({ exit: 0, stdout: "true\n", stderr: "" });
});

test("a CDN that started with fake timers that advance by themselves stops after them", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const cdn = await startCdn({ site: {} }).finally(() => vi.useRealTimers());
  vi.useFakeTimers();
  try {
    await cdn.close();
  } finally {
    vi.useRealTimers();
  }
});

test("while a CDN stops, fake timers are real, with all that belongs to them", async () => {
  const cdn = await startCdn({ site: {} });
  vi.useFakeTimers({ now: Date.UTC(2020, 0, 1) });
  try {
    const { setImmediate: fake } = globalThis;
    const closing = cdn.close();
    while (globalThis.setImmediate === fake) await stat(".");
    expect(await promisify(setImmediate)("v1")).toBe("v1");
    await closing;
    expect(globalThis.setImmediate).toBe(fake);
  } finally {
    vi.useRealTimers();
  }
});

test("closing a CDN ends a purge that waits for fake timers, in words", async () => {
  const cdn = await startCdn({ site: {} });
  vi.useFakeTimers({ toFake: ["queueMicrotask", "setTimeout"] });
  try {
    const purgers = [cdn.purger, cdn.purgerIn("local", { signal: new AbortController().signal })];
    const refusals = purgers.map((purger) =>
      expect(purger.purgeUrls("/purged")).rejects.toThrow(
        /^cdn\.purger: this CDN was closed, .* while timers are faked never ends\. Fake the Date alone: /,
      ),
    );
    await cdn.close();
    await Promise.all(refusals);
  } finally {
    vi.useRealTimers();
  }
});
