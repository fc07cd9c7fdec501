import type { Around } from "./around.ts";

/** Once a log is older than this, it assumes that nobody uses what was read of the log before it. */
export const DAY_MS = 26 * 3600 * 1000;

/**
 * The log is made anew, and a day passes before one isolate, which knows of the log before, is asked again. It gets a lease
 * of the new log, perhaps after one of which it has not heard, and loses the log. Then a page is purged.
 */
export async function longSleep(around: Around): Promise<void> {
  const { fate, log, visitors, backend, pops, leaseMs } = around;
  const [isolate, path] = [around.anyIsolate(), visitors.anyPath()];
  await backend.purge(() => around.anyIsolate());
  await visitors.get(isolate, path, null);
  log.makeAnew();
  fate.count("logs made anew");
  fate.tell("the log is made anew");
  await visitors.get(fate.pick(pops.flat().filter((each) => each !== isolate)), path, null);
  await fate.scheduler.wait(DAY_MS).over;
  if (fate.chance(0.7)) {
    log.keepUnheard(isolate.reader, leaseMs);
    await visitors.get(isolate, path, null);
    await fate.scheduler.wait(leaseMs).over;
  }
  await visitors.get(isolate, path, null);
  await visitors.get(isolate, path, null); // what was fetched before has the number of the log before
  log.cutOff(isolate.reader, 4 * leaseMs);
  await around.purgeEverything(path);
}
