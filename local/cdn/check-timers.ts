import { stat } from "node:fs/promises";

/** Long enough for fake timers that advance by themselves: they run what is due every 20 ms. */
const GIVE_UP_AFTER_S = 1;

/** Rejects, in words, if `setImmediate` is faked: the runtime waits for it when it stops. */
export async function checkTimers(call: string): Promise<void> {
  let hasRun = false;
  const immediate = setImmediate(() => {
    hasRun = true;
  });
  const giveUpAt = process.uptime() + GIVE_UP_AFTER_S; // fake timers fake the other clocks
  let isLast = false;
  while (!hasRun && !isLast) {
    isLast = process.uptime() > giveUpAt; // never the first turn, in which a real one need not run yet
    await turn();
  }
  clearImmediate(immediate);
  if (!hasRun) throw new Error(`${call}: ${IS_FAKED}`);
}

/** Waits for at least one turn of the event loop, without a timer. */
async function turn(): Promise<void> {
  await stat(".").catch(() => undefined);
}

const IS_FAKED =
  "setImmediate is faked, and the CDN's runtime hangs without it. Leave it as it is, for instance by " +
  'vi.useFakeTimers({ toFake: ["Date"] }) or jest.useFakeTimers({ doNotFake: ["setImmediate"] }).';
