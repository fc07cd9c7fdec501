import type { Budget, Miss } from "../../../tools/counting/budget-trial.ts";
import { OriginGate } from "../../../worker/flow/origin/origin-gate.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import type { EdgeEvent } from "../../../worker/ports/reporter.ts";

const PAGE = { route: null, asksForStream: false, isForOthers: true };

/** The misses through the edge's own gate, in virtual time: how long each waited that got its turn, and how many did not. */
export async function playThroughGate(
  { concurrency, queue }: Budget,
  misses: readonly Miss[],
): Promise<{ readonly waits: readonly number[]; readonly turnedAway: number }> {
  let now = 0;
  /** What is to come, in the order in which it was planned. */
  const planned: { readonly at: number; readonly happen: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    wait(ms) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      planned.push({ at: now + ms, happen: resolve });
      return { over, cancel: () => undefined };
    },
  };
  const gate = new OriginGate({ concurrency, queue, ofRoutes: new Map(), streams: null }, { clock, random: () => 0.5 });
  const ends: { readonly at: number; readonly happen: () => void }[] = [];
  const waits: number[] = [];
  let turnedAway = 0;
  const visit = async ({ client, tookMs }: Miss) => {
    const since = now;
    const place = gate.placeOf({ address: client, cookieField: null, isRefresh: false, hasReceipt: false });
    let hasWaited = false;
    const report = ({ kind }: EdgeEvent) => {
      if (kind === "origin-awaited") hasWaited = true;
    };
    const permit = await gate.enter(place, PAGE, { report }, {});
    if (permit === null) turnedAway++;
    else {
      if (hasWaited) waits.push(now - since);
      ends.push({ at: now + tookMs!, happen: permit.end });
    }
  };
  const all = [...misses];
  const happenAll = async (events: { readonly at: number; readonly happen: () => void }[]) => {
    for (let due = takeDue(events, now); due.length > 0; due = takeDue(events, now)) {
      for (const { happen } of due) {
        happen();
        await new Promise(setImmediate);
      }
    }
  };
  for (const last = misses.at(-1)!.at + queue.maxMs; now <= last; now++) {
    await happenAll(planned); // whose wait is over gets no turn in the same millisecond, as in the trial
    await happenAll(ends);
    while (all[0]?.at === now) {
      void visit(all.shift()!);
      await new Promise(setImmediate);
      await happenAll(ends);
    }
  }
  return { waits, turnedAway };
}

function takeDue<Event extends { readonly at: number }>(events: Event[], now: number): Event[] {
  const due = events.filter(({ at }) => at <= now);
  for (const event of due) events.splice(events.indexOf(event), 1);
  return due;
}
