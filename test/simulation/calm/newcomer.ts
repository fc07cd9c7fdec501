import type { Around } from "./around.ts";

/**
 * An isolate reads the log beside its connection. A newcomer in its PoP, of the version before, is asked for a page next, and
 * then loses the log. The page is purged.
 */
export async function newcomer(around: Around): Promise<void> {
  const { fate, log, visitors, leaseMs } = around;
  const pop = fate.pick(around.pops);
  const [reader, path] = [pop[0]!, visitors.anyPath()];
  const newcomer = around.replace(pop[1]!, false);
  await visitors.get(reader, path, null);
  await visitors.getWithInventedToken(reader, path, log.head);
  await fate.delay(100);
  await visitors.get(newcomer, path, null);
  log.cutOff(newcomer.reader, 4 * leaseMs);
  await around.purgeEverything(path);
  if (pop.includes(newcomer)) around.replace(newcomer, true);
}
