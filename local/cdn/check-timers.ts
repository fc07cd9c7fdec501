import { stat } from "node:fs/promises";
import { runInNewContext } from "node:vm";
import { COMPATIBILITY_DATE } from "../runtime/compatibility-date.ts";

/** Long enough for fake timers that advance by themselves: they run what is due every 20 ms. */
const GIVE_UP_AFTER_S = 1;

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

/** Those of `TO_STOP` as they were when this module was loaded, in functions that are nobody else's fakes. */
const REAL = TO_STOP.map(([owner, name]) => {
  const real = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  return (...args: unknown[]) => Reflect.apply(real, owner, args);
});

let stops = 0;
let replaced: unknown[] = [];

/**
 * Stops a CDN with real timers, however they are faked, because one that does not stop keeps its process alive. Fakes
 * that are still there come back after the last stop under way.
 */
export async function withRealTimers(stop: () => Promise<void>): Promise<void> {
  if (stops++ === 0) {
    replaced = TO_STOP.map(([owner, name]) => Reflect.get(owner, name));
    for (const [index, [owner, name]] of TO_STOP.entries()) Reflect.set(owner, name, REAL[index]);
  }
  try {
    await stop();
  } finally {
    if (--stops === 0) {
      for (const [index, [owner, name]] of TO_STOP.entries()) {
        if (Reflect.get(owner, name) === REAL[index]) Reflect.set(owner, name, replaced[index]);
      }
    }
  }
}

/** Rejects, in words, if a fake timer would make a runtime hang when it stops. `call` is for the message. */
export async function checkStop(call: string): Promise<void> {
  await checkTimers(call, TO_STOP);
}

/** Rejects, in words, if a fake timer or date would keep runtimes from starting, or from stopping later. */
export async function checkStart(call: string): Promise<void> {
  await checkTimers(call, TO_START);
  const now = Date.now();
  const machineNow = runInNewContext("Date.now()") as number; // a new context has a Date that nobody has faked
  const isTooEarly = now < Math.min(machineNow, Date.parse(COMPATIBILITY_DATE));
  if (isTooEarly || now > machineNow + MAX_AHEAD_MS) throw new Error(`${call}: ${dateIsFaked(now, machineNow)}`);
}

async function checkTimers(call: string, timers: readonly Timer[]): Promise<void> {
  const waiting = new Set(namesOf(timers));
  for (const [owner, name] of timers) {
    const wait = Reflect.get(owner, name) as (done: () => void) => void;
    Reflect.apply(wait, owner, [() => waiting.delete(name)]);
  }
  const giveUpAt = process.uptime() + GIVE_UP_AFTER_S; // fake timers fake the other clocks
  let isLast = false;
  while (waiting.size > 0 && !isLast) {
    isLast = process.uptime() > giveUpAt; // never the first turn, in which a real one need not run yet
    await turn();
  }
  const [faked] = waiting;
  if (faked !== undefined) throw new Error(`${call}: ${timerIsFaked(faked)}`);
}

function namesOf(timers: readonly Timer[]): string[] {
  return timers.map(([, name]) => name);
}

/** Waits for at least one turn of the event loop, without a timer. */
async function turn(): Promise<void> {
  await stat(".").catch(() => undefined);
}

/** Jest cannot be told what to fake. Without intervals, a runtime is forgotten after 5 minutes. */
const NOT_FOR_JEST = [...namesOf(TO_START), "clearImmediate", "clearTimeout", "setInterval", "clearInterval"];

const timerIsFaked = (name: string) =>
  `${name} is faked, and the CDN's runtime hangs without it. Fake the Date alone: ` +
  'vi.useFakeTimers({ toFake: ["Date"] }), mock.timers.enable({ apis: ["Date"], now: Date.now() }), or ' +
  `jest.useFakeTimers({ doNotFake: ${JSON.stringify(NOT_FOR_JEST)} }).`;

const dateIsFaked = (now: number, machineNow: number) =>
  `Date is faked: it says ${new Date(now).toISOString()}, and the machine's clock ${new Date(machineNow).toISOString()}. ` +
  "With such a date the CDN's runtimes do not start, or do not find each other. Set it after this call, and before the " +
  "next start, reset or restart set it back.";
