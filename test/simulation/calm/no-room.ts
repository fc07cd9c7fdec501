import type { Around } from "./around.ts";

/**
 * One isolate loses its connection, and finds no room for another. Before it has read the log without a name, it does not
 * reach the log any more, and fetches a page, which is then purged.
 */
export async function noRoom(around: Around): Promise<void> {
  const { fate, log, visitors, leaseMs, rememberedByNameMs } = around;
  const [isolate, path] = [around.anyIsolate(), visitors.anyPath()];
  await visitors.get(isolate, path, null);
  log.cutOff(isolate.reader, leaseMs);
  await fate.scheduler.wait(fate.pick([1, 2]) * leaseMs).over;
  log.fillUp(leaseMs);
  await visitors.get(isolate, path, null);
  log.cutOff(isolate.reader, 8 * leaseMs);
  await fate.scheduler.wait(fate.pick([0, leaseMs, rememberedByNameMs])).over;
  await visitors.get(isolate, path, null);
  await around.purgeEverything(path);
  if (around.pops.flat().includes(isolate)) around.replace(isolate, true);
}
