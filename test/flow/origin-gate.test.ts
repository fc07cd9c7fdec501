import { expect, test } from "vitest";
import { OriginGate } from "../../worker/flow/origin/origin-gate.ts";
import type { Permit, Place } from "../../worker/flow/origin/permit-queue.ts";
import type { OriginPermits } from "../../worker/ports/origin-permits.ts";
import { compareTurns, type Waiting } from "../../worker/rules/queueing/queue-order.ts";
import { chances } from "../engine/chances.ts";
import { ManualClock } from "../engine/memory/manual-clock.ts";
import { seed } from "../suite/seed.ts";

const PAGE = { route: null, asksForStream: false, isForOthers: true };
const SOMEBODY = { address: "192.0.2.7", cookieField: null, isRefresh: false, hasReceipt: false };

type Capacity = ConstructorParameters<typeof OriginGate>[0];
type GateParts = ConstructorParameters<typeof OriginGate>[1];

/** A gate where one request may be at the origin, and one may wait for 5 s, unless it says otherwise. */
function gateOf(
  parts: Pick<GateParts, "clock"> & Partial<GateParts>,
  { maxMs = 5000, maxWaiting = 1, ...places }: Partial<Omit<Capacity, "queue"> & Capacity["queue"]> = {},
): OriginGate {
  const one = { concurrency: 1, ofRoutes: new Map(), streams: null };
  return new OriginGate({ ...one, ...places, queue: { maxMs, maxWaiting } }, { random: chances(1), ...parts });
}

test("a request that asks the origin twice waits as long as it may each time", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock });
  const enter = (place = gate.placeOf(SOMEBODY), request = {}) =>
    gate.enter(place, { ...PAGE, inLineSince: 0 }, { report: () => undefined }, request);
  const place = gate.placeOf(SOMEBODY);
  const request = {};
  const first = (await enter(place, request)) as Permit;
  await clock.advance(9000);
  first.end();
  const other = (await enter()) as Permit;
  const second = enter(place, request);
  await clock.advance(4999);
  other.end();
  expect(await second).not.toBeNull();
});

test("a request whose time is over sends nobody away who waits", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock });
  const enter = (inLineSince: number) =>
    gate.enter(gate.placeOf(SOMEBODY), { ...PAGE, inLineSince }, { report: () => undefined }, {});
  const first = (await enter(0)) as Permit;
  await clock.advance(5000);
  const waiting = enter(5000);
  expect(await enter(0)).toBeNull();
  first.end();
  expect(await waiting).not.toBeNull();
});

test("a clock that is set forward turns nobody away who waits", async () => {
  const clock = new ManualClock(0);
  let aheadMs = 0;
  const stepped = { now: () => clock.now() + aheadMs, wait: (ms: number) => clock.wait(ms) };
  const gate = gateOf({ clock: stepped });
  const enter = () => gate.enter(gate.placeOf(SOMEBODY), PAGE, { report: () => undefined }, {});
  const first = (await enter()) as Permit;
  const second = enter();
  aheadMs = 10_000;
  first.end();
  expect(await second).not.toBeNull();
});

test("a request that waited elsewhere when the clock was set back waits no longer than others", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock });
  const enter = (inLineSince: number) =>
    gate.enter(gate.placeOf(SOMEBODY), { ...PAGE, inLineSince }, { report: () => undefined }, {});
  await enter(0);
  const waiting = enter(3_600_000);
  await clock.advance(5000);
  expect(gate.counts.waiting).toBe(0);
  expect(await waiting).toBeNull();
});

test("a request that has had its turn leaves no timer behind, which a flood would fill memory with", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock }, { maxWaiting: 2 });
  const enter = () => gate.enter(gate.placeOf(SOMEBODY), PAGE, { report: () => undefined }, {});
  const first = (await enter()) as Permit;
  const second = enter();
  expect(clock.waits).toBe(1);
  first.end();
  expect(await second).not.toBeNull();
  expect(clock.waits).toBe(0);
});

test("a timer that could not be cleared, as in another request on Workers, turns nobody away who waits again", async () => {
  const clock = new ManualClock(0);
  const kept = { now: () => clock.now(), wait: (ms: number) => ({ ...clock.wait(ms), cancel: () => undefined }) };
  const gate = gateOf({ clock: kept });
  const enter = (place = gate.placeOf(SOMEBODY)) => gate.enter(place, PAGE, { report: () => undefined }, {});
  const place = gate.placeOf(SOMEBODY);
  const first = (await enter()) as Permit;
  const once = enter(place);
  await clock.advance(1000);
  first.end();
  ((await once) as Permit).end();
  const other = (await enter()) as Permit;
  await clock.advance(3000);
  const again = enter(place);
  await clock.advance(1000); // the first wait would end now
  other.end();
  expect(await again).not.toBeNull();
});

test("who becomes a stream without a place for it is logged as turned away, and counts as one that has waited", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock }, { streams: 1 });
  const reported: string[] = [];
  const turns: unknown[] = [];
  const enter = () =>
    gate.enter(
      gate.placeOf(SOMEBODY),
      PAGE,
      { report: ({ kind }) => void reported.push(kind) },
      { noteTurn: (turn) => void turns.push(turn) },
    );
  const lasts = Promise.withResolvers<void>();
  await (await enter())!.becomeStream(() => lasts.promise);
  const second = (await enter())!.becomeStream(() => lasts.promise);
  await clock.advance(1000);
  expect(await second).toBe(false);
  expect(reported).toEqual(["origin-awaited", "origin-turned-away"]);
  expect(turns).toEqual([{ client: "other", waitedMs: 1000, hasCome: false }]);
});

/** A gate with two permits, each of which comes from another worker after so long; and what a visitor of before is now. */
async function classAfterMisses(everyMs: number, broughtAfterMs: number): Promise<string> {
  const clock = new ManualClock(0);
  const permits = new PermitsOfOthers(clock, broughtAfterMs);
  const gate = gateOf({ clock, permitsOf: () => permits }, { concurrency: 2, maxWaiting: 2 });
  const visitor = { ...SOMEBODY, cookieField: "sid=0123456789abcdef" };
  gate.noteSessions(["sid=0123456789abcdef; Path=/"], SOMEBODY);
  for (let spent = 0; spent < 1_200_000; spent += everyMs) {
    void gate.enter(gate.placeOf(SOMEBODY), PAGE, { report: () => undefined }, {}).then((turn) => turn?.end());
    await clock.advance(everyMs);
  }
  return gate.standingOf(visitor).client;
}

/** Permits that are always free, but in another worker. */
class PermitsOfOthers implements OriginPermits {
  onFree = () => undefined;
  onBrought: OriginPermits["onBrought"] = () => undefined;
  readonly #clock: ManualClock;
  readonly #afterMs: number;
  #atHand = 0;

  constructor(clock: ManualClock, afterMs: number) {
    this.#clock = clock;
    this.#afterMs = afterMs;
  }

  take(): boolean {
    return this.#atHand > 0 && this.#atHand-- > 0;
  }

  giveBack(): void {}

  bring(waiting: Waiting): void {
    void this.#clock.wait(this.#afterMs).over.then(() => {
      this.#atHand++;
      this.onBrought(waiting);
    });
  }

  stopBringing(): void {}

  bringWhenIdle(): void {}
}

test.each([
  ["a minute", 50_000],
  ["30 ms", 30],
])("a permit that comes from another worker at once is no queue, even if one comes every %s", async (_, everyMs) => {
  expect(await classAfterMisses(everyMs, 20)).toBe("known");
});

test("a queue in which each waits long enough goes on for as long as somebody waits each minute", async () => {
  expect(await classAfterMisses(50_000, 200)).toBe("other");
});

/** A gate whose turns a test gives, and the requests that it has let through and turned away, by their names. */
function startGate(concurrency: number, maxMs: number) {
  const clock = new ManualClock(0);
  const gate = gateOf(
    { clock },
    { concurrency, ofRoutes: new Map([["/s/*", 1]]), streams: 1, maxMs, maxWaiting: 1000 },
  );
  const running: Permit[] = [];
  const turnedAway: string[] = [];
  const settled = () => new Promise(setImmediate);
  return {
    gate,
    turnedAway,
    advance: (ms: number) => clock.advance(ms),
    enter: async (name: string, recentMisses = 0) => {
      const place = { ...gate.placeOf(SOMEBODY), recentMisses };
      void gate.enter(place, PAGE, { report: () => undefined }, {}).then((permit) => {
        if (permit) running.push(permit);
        else turnedAway.push(name);
      });
      await settled();
    },
    giveTurn: async () => {
      running.shift()!.end();
      await settled();
    },
  };
}

test("as many may wait as have their turn in time, of which people and monitors are told", async () => {
  const { gate, enter, giveTurn, advance } = startGate(2, 5000);
  expect(gate.counts).toEqual({ running: 0, waiting: 0, maxWaiting: 1000, longestWaitMs: 0 });
  for (let each = 0; each < 20; each++) await enter("early");
  expect(gate.counts).toMatchObject({ running: 2, waiting: 18, maxWaiting: 1000 });
  for (let second = 1; second <= 4; second++) {
    await advance(1000);
    await giveTurn();
  }
  await enter("late"); // the last one who still waits when the others have waited for too long
  await advance(1000);
  for (let each = 0; each < 20; each++) await enter("late");
  expect(gate.counts).toMatchObject({ running: 2, waiting: 4, maxWaiting: 4 });
});

test("a client that leaves the queue was not turned away", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock }, { maxWaiting: 2 });
  const reported: string[] = [];
  const reporter = { report: ({ kind }: { kind: string }) => void reported.push(kind) };
  const asked = { ...PAGE, isForOthers: false };
  await gate.enter(gate.placeOf(SOMEBODY), asked, reporter, {});
  let leave = () => {};
  const onceLeft = (listener: () => void) => {
    leave = listener;
    return () => undefined;
  };
  const leaving = gate.enter(gate.placeOf(SOMEBODY), asked, reporter, { onceLeft });
  const staying = gate.enter(gate.placeOf(SOMEBODY), asked, reporter, {});
  leave();
  expect(await leaving).toBeNull();
  expect(reported).toEqual(["origin-awaited", "origin-awaited"]);
  await clock.advance(5000);
  expect(await staying).toBeNull();
  expect(reported.slice(2)).toEqual(["origin-turned-away"]);
});

test.each([
  ["its places", 4, () => 1],
  ["its turns", 1000, (chance: number) => chance * 500],
])("a queue with all %s taken gives up its last place, whatever happened in it before", async (_, maxWaiting, msOf) => {
  const random = chances(seed);
  const clock = new ManualClock(0);
  const gate = gateOf({ clock, random }, { maxWaiting });
  const client = () => ({ ...SOMEBODY, address: `192.0.2.${Math.floor(random() * 6)}` });
  const waiting = new Set<Place>();
  const running: Permit[] = [];
  const settled = () => new Promise(setImmediate);
  for (let step = 0; step < 20000; step++) {
    const what = random();
    if (what < 0.5) {
      const place = gate.placeOf(client());
      const isFull = gate.counts.waiting >= gate.counts.maxWaiting;
      const last = [...waiting].sort(compareTurns).at(-1);
      waiting.add(place);
      void gate.enter(place, PAGE, { report: () => undefined }, {}).then((permit) => {
        waiting.delete(place);
        if (permit) running.push(permit);
      });
      await settled();
      expect(gate.counts.waiting).toBeLessThanOrEqual(maxWaiting);
      if (isFull) expect(waiting.has(compareTurns(place, last!) < 0 ? last! : place)).toBe(false);
    } else if (what < 0.6) running.shift()?.end();
    else if (what < 0.8) {
      const [place] = waiting;
      if (place) gate.share(place, client());
    } else await clock.advance(random() < 0.01 ? 5000 : msOf(random()));
    await settled();
  }
});

test("a request that gives no sign of life loses its place, and one that lives keeps it for as long as it lasts", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock, losesRequests: true }, { concurrency: 2, maxWaiting: 2 });
  const enter = () => gate.enter(gate.placeOf(SOMEBODY), PAGE, { report: () => undefined }, {});
  const [living, dead] = [(await enter())!, (await enter())!];
  const attended = living.attend(clock);
  for (let second = 0; second < 30; second++) await clock.advance(1000);
  expect(gate.enterIfIdle(null)).toBeNull();
  await clock.advance(1);
  expect(await enter()).not.toBeNull();
  dead.end();
  expect(gate.counts.running).toBe(2);
  living.end();
  await attended;
  expect(gate.counts.running).toBe(1);
});

test("where no request is lost, none loses its place, whatever the clock says", async () => {
  const clock = new ManualClock(0);
  const gate = gateOf({ clock }, { maxWaiting: 2 });
  expect(gate.enterIfIdle(null)).not.toBeNull();
  await clock.advance(3_600_000);
  expect(gate.enterIfIdle(null)).toBeNull();
});
