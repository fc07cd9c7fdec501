import type { Around } from "./around.ts";
import { isolateAlone } from "./isolate-alone.ts";
import { lastMoment } from "./last-moment.ts";
import { DAY_MS, longSleep } from "./long-sleep.ts";
import { newLog } from "./new-log.ts";
import { newcomer } from "./newcomer.ts";
import { noRoom } from "./no-room.ts";

/** The number of steps of a calm world: as much happens in them as in the steps of any other world. */
export const CALM_STEPS = 6;
/** The time from one to the next, in milliseconds: it has mostly ended then, and so have the leases. */
const STEP_MS = { least: 8000, most: 16_000 };

/** The faults, each as often as it is listed. */
const FAULTS = [
  ...[isolateAlone, isolateAlone, isolateAlone, isolateAlone],
  ...[lastMoment, lastMoment, lastMoment],
  ...[newcomer, noRoom, newLog, longSleep],
];
/** After these, receipts settle by R6 for a day, which passes before the next one. */
const A_DAY_LONG: readonly unknown[] = [newcomer, noRoom, newLog, longSleep];

/** Begins a step of a calm world, or leaves it out. Returns the time until the next one. */
export function calmStep(around: Around, isRun: boolean): number {
  const { fate } = around;
  const fault = fate.pick(FAULTS);
  const waitMs = STEP_MS.least + Math.floor(fate.random() * (STEP_MS.most - STEP_MS.least));
  if (isRun) void fate.begin(fault(around));
  if (!A_DAY_LONG.includes(fault)) return waitMs;
  fate.count("days without a request");
  return DAY_MS + waitMs;
}
