import type { Around } from "./around.ts";

/**
 * The log is made anew while an isolate of the version before, which has read it and never confirms, does not reach it. The
 * isolate fetches a page, which is then purged in the new log.
 */
export async function newLog(around: Around): Promise<void> {
  const { fate, log, visitors, leaseMs, rememberedByNameMs } = around;
  const path = visitors.anyPath();
  const old = around.replace(around.anyIsolate(), false);
  await visitors.get(old, path, null);
  log.cutOff(old.reader, 8 * leaseMs);
  log.makeAnew();
  fate.count("logs made anew");
  fate.tell("the log is made anew");
  await fate.scheduler.wait(leaseMs + fate.pick([0, rememberedByNameMs])).over;
  await visitors.get(old, path, null);
  await around.purgeEverything(path);
  if (around.pops.flat().includes(old)) around.replace(old, true);
}
