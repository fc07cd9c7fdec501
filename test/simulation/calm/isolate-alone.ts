import type { SimulatedIsolate } from "../simulated-isolate.ts";
import type { Around } from "./around.ts";

/**
 * One isolate gets a lease, and something happens to that. Then the isolate, which perhaps loses the log, is asked for a
 * page, which is purged.
 */
export async function isolateAlone(around: Around): Promise<void> {
  const { fate, log, visitors, leaseMs, rememberedByNameMs } = around;
  const [isolate, path] = [around.anyIsolate(), visitors.anyPath()];
  await fate.pick(HAPPENINGS)(around, isolate, path);
  if (fate.chance(0.8)) log.cutOff(isolate.reader, fate.pick([leaseMs, 4 * leaseMs, 8 * leaseMs]));
  await fate.scheduler.wait(fate.pick([0, 0, 0, leaseMs, 2 * leaseMs, rememberedByNameMs])).over;
  if (fate.chance(0.8)) await visitors.get(isolate, path, null);
  await around.purgeEverything(path);
}

/** What happens to the lease of an isolate. */
type Happening = (around: Around, isolate: SimulatedIsolate, path: string) => Promise<void>;

/** Nothing happens to it. */
const keeps: Happening = ({ visitors }, isolate, path) => visitors.get(isolate, path, null);

const givesUp: Happening = async (around, isolate, path) => {
  const { fate, keepViewMs } = around;
  await keeps(around, isolate, path);
  await fate.scheduler.wait(keepViewMs + fate.pick([0, 400, 800])).over;
};

/** The message that it has given up the first one may be on its way while it gets the second. */
const givesUpAndGetsAnother: Happening = async (around, isolate, path) => {
  const { fate, keepViewMs } = around;
  fate.count("isolates that came back after they had given up their lease");
  await keeps(around, isolate, path);
  await fate.scheduler.wait(keepViewMs + fate.pick([0, 50, 200])).over;
  await keeps(around, isolate, path);
};

/**
 * A visitor with an invented token makes it read the log beside its connection. The reply comes when its visitors have
 * gone, and it has given up its lease.
 */
const hearsLate: Happening = async (around, isolate, path) => {
  const { fate, log, visitors, keepViewMs } = around;
  await keeps(around, isolate, path);
  const visits = 10 * fate.random();
  for (let visit = 0; visit < visits; visit++) {
    await fate.scheduler.wait(90).over;
    void visitors.get(isolate, path, null);
  }
  log.delayNextRead(isolate.reader, keepViewMs + fate.pick([50, 200, 400]));
  void visitors.getWithInventedToken(isolate, path, log.head);
  await fate.scheduler.wait(90).over;
  void visitors.get(isolate, path, null);
  await fate.scheduler.wait(keepViewMs).over;
};

/** Each as often as it is listed. */
const HAPPENINGS: readonly Happening[] = [keeps, givesUp, givesUpAndGetsAnother, hearsLate, hearsLate];
