import { runInNewContext } from "node:vm";
import { MessageChannel } from "node:worker_threads";
import { COMPATIBILITY_DATE } from "../../package/compatibility-date.ts";

/** Long enough for fake timers that advance by themselves: they run what is due every 20 ms. */
const GIVE_UP_AFTER_S = 1;

/** How long it waits between two looks, and what it waits for meanwhile, which never changes. */
const LOOK_EVERY_MS = 1;
const unchanged = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** A runtime does not find another one that was last seen 5 minutes ago. */
const MAX_AHEAD_MS = 4 * 60_000;

/** By what a runtime that stops waits for its process: a timer's owner, and its name there. */
const TO_STOP: readonly Timer[] = [
  [globalThis, "setImmediate"],
  [globalThis, "queueMicrotask"],
  [process, "nextTick"],
];

/** By what runtimes also wait until they have found each other. */
const TO_START: readonly Timer[] = [...TO_STOP, [globalThis, "setTimeout"]];

type Timer = readonly [owner: object, name: string];

type Wait = (done: () => void) => unknown;

/**
 * Those of `TO_STOP` as they were when this module was loaded, and when a CDN last started. Neither need be real: fakes may
 * be in place while modules load, and those that advance by themselves while a CDN starts.
 */
const atLoad = currently(TO_STOP);
let atStart = atLoad;

let stops = 0;
let placing: Promise<void> | undefined;
let placed: readonly (readonly [timer: Timer, real: Wait, fake: Wait])[] = [];

/**
 * Stops a CDN with real timers, however they are faked, because one that does not stop keeps its process alive. Fakes
 * that are still there come back after the last stop under way. Rejects, in words, if no real timer is known. `call` is
 * for the message.
 */
export async function withRealTimers(call: string, stop: () => Promise<void>): Promise<void> {
  if (stops++ === 0) placing = placeRealTimers(call);
  try {
    await placing;
    await stop();
  } finally {
    if (--stops === 0) {
      for (const [[owner, name], real, fake] of placed) {
        if (Reflect.get(owner, name) === real) Reflect.set(owner, name, fake);
      }
      placed = [];
    }
  }
}

async function placeRealTimers(call: string): Promise<void> {
  const reals = await firstToRun(TO_STOP, [atLoad, atStart]);
  if (reals.includes(undefined)) return checkTimers(call, TO_STOP);
  placed = currently(TO_STOP).flatMap((current, index) => {
    const real = reals[index]!;
    // A proxy does what the timer does, and differs from the one that others put back meanwhile.
    return current === real ? [] : [[TO_STOP[index]!, new Proxy(real, {}), current] as const];
  });
  for (const [[owner, name], real] of placed) Reflect.set(owner, name, real);
}

/** Rejects, in words, if a fake timer would make a runtime hang when it stops. `call` is for the message. */
export async function checkStop(call: string): Promise<void> {
  await checkTimers(call, TO_STOP);
}

/** Whether no fake timer keeps runtimes from finding each other. */
export async function areRealToStart(): Promise<boolean> {
  return !(await firstToRun(TO_START, [currently(TO_START)])).includes(undefined);
}

/** Rejects, in words, if a fake timer or date would keep runtimes from starting, or from stopping later. */
export async function checkStart(call: string): Promise<void> {
  await checkTimers(call, TO_START);
  const now = Date.now();
  const machineNow = runInNewContext("Date.now()") as number; // a new context has a Date that nobody has faked
  const isTooEarly = now < Math.min(machineNow, Date.parse(COMPATIBILITY_DATE));
  if (isTooEarly || now > machineNow + MAX_AHEAD_MS) throw new Error(`${call}: ${dateIsFaked(now, machineNow)}`);
  atStart = currently(TO_STOP);
}

async function checkTimers(call: string, timers: readonly Timer[]): Promise<void> {
  const first = await firstToRun(timers, [currently(timers)]);
  const faked = timers[first.indexOf(undefined)];
  if (faked !== undefined) throw new Error(`${call}: ${timerIsFaked(faked[1])}`);
}

/** For each timer, the one of `sets` that first ran what it was given. Real ones come before fakes. */
async function firstToRun(
  timers: readonly Timer[],
  sets: readonly (readonly Wait[])[],
): Promise<readonly (Wait | undefined)[]> {
  const first = timers.map((): Wait | undefined => undefined);
  for (const [index, [owner]] of timers.entries()) {
    for (const wait of new Set(sets.map((set) => set[index]!))) {
      const done = () => {
        first[index] ??= wait;
      };
      Reflect.apply(wait, owner, [done]);
    }
  }
  await comesTrue(() => !first.includes(undefined), GIVE_UP_AFTER_S);
  return first;
}

function currently(timers: readonly Timer[]): readonly Wait[] {
  return timers.map(([owner, name]) => Reflect.get(owner, name) as Wait);
}

/** Whether work ends within the time, on a clock that nobody fakes. */
export async function endsWithin(seconds: number, work: Promise<unknown>): Promise<boolean> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  work.then(end, end);
  return comesTrue(() => hasEnded, seconds);
}

async function comesTrue(isTrue: () => boolean, seconds: number): Promise<boolean> {
  const giveUpAt = process.uptime() + seconds; // fake timers fake the other clocks
  const { port1: open } = new MessageChannel();
  open.on("message", () => undefined); // the waits below do not keep the process alive, nor, in Deno, a port without a listener
  let isLast = false;
  while (!isTrue() && !isLast) {
    isLast = process.uptime() > giveUpAt; // never the first look, before which a real timer need not have run
    await Atomics.waitAsync(unchanged, 0, 0, LOOK_EVERY_MS).value; // which nobody fakes, either
  }
  open.close();
  return isTrue();
}

function namesOf(timers: readonly Timer[]): string[] {
  return timers.map(([, name]) => name);
}

/** Jest cannot be told what to fake. Without intervals, a runtime is forgotten after 5 minutes. */
const NOT_FOR_JEST = [...namesOf(TO_START), "clearImmediate", "clearTimeout", "setInterval", "clearInterval"];

const timerIsFaked = (name: string) => `${name} is faked, and the CDN's runtime hangs without it. ${FAKE_THE_DATE}`;

/** What to do instead of faking all timers. */
export const FAKE_THE_DATE: string =
  'Fake the Date alone: vi.useFakeTimers({ toFake: ["Date"] }), mock.timers.enable({ apis: ["Date"], now: Date.now() }), or ' +
  `jest.useFakeTimers({ doNotFake: ${JSON.stringify(NOT_FOR_JEST)} }).`;

const dateIsFaked = (now: number, machineNow: number) =>
  `Date is faked: it says ${new Date(now).toISOString()}, and the machine's clock ${new Date(machineNow).toISOString()}. ` +
  "With such a date the CDN's runtimes do not start, or do not find each other. Set it after this call, and before the " +
  "next start, reset or restart set it back.";
