import { EVERYTHING } from "../backend.ts";
import type { Around } from "./around.ts";

/** The time between two visitors, in milliseconds. */
const BETWEEN_MS = 20;

/**
 * The isolates of one PoP, which have given up their leases, do not reach the log. One of them fetches a page just before it
 * is purged. The other, whose clock may be behind, is asked for it as soon as the purge has settled.
 */
export async function lastMoment({ fate, log, visitors, backend, pops, keepViewMs, leaseMs }: Around): Promise<void> {
  const pop = fate.pick(pops);
  const others = pops.find((each) => each !== pop)!;
  const [one, other] = fate.chance(0.5) ? pop : pop.toReversed();
  await fate.scheduler.wait(keepViewMs + leaseMs).over;
  for (const isolate of pop) log.cutOff(isolate.reader, 6 * leaseMs);
  const [path, elsewhere] = [visitors.anyPath(), visitors.anyPath()];
  await visitors.get(other!, elsewhere, null);
  let isOver = false;
  const purging = backend
    .purge(() => fate.pick(others), EVERYTHING)
    .finally(() => {
      isOver = true;
    });
  while (!isOver) {
    void visitors.get(one!, path, null);
    await fate.scheduler.wait(BETWEEN_MS).over;
  }
  const purged = await purging;
  if (purged === null) return;
  await backend.settled(purged);
  for (let looks = 0; looks < 3; looks++) {
    void visitors.get(other!, path, null);
    await fate.scheduler.wait(BETWEEN_MS).over;
  }
}
