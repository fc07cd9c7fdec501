import type { Clock } from "../../worker/ports/clock.ts";
import { within } from "../../worker/within.ts";
import type { HeldSocket } from "./listening-sockets.ts";
import type { SiteLogs } from "./site-logs.ts";
import type { HandOver, Successor } from "./upgrade.ts";
import { START_WITHIN_MS, type WorkerProcess } from "./worker-process.ts";

/** A successor that takes longer from its start to its first answers hangs. Milliseconds. */
const SUCCEED_WITHIN_MS = 2 * START_WITHIN_MS;
/** How long the calls of the log that are under way may take before the log goes to a successor. Milliseconds. */
const HOLD_WITHIN_MS = 5_000;

/** The server that hands over. */
export interface OldServer {
  readonly clock: Clock;
  readonly sockets: readonly HeldSocket[];
  readonly logs: SiteLogs;
  /** The workers that have not ended. */
  workers(): Iterable<WorkerProcess>;
  /** From here on no worker starts, because the successor's are about to. Throws if the server stops. */
  startNoMore(): void;
  /** The successor gets the log now. */
  onHandOver(): void;
  /** The sessions of which its workers are to know. */
  readonly sessions: () => HandOver["sessions"];
  /** It gives out the permits for the origin from now on. Returns those that the workers hold, by site. */
  givePermits(): HandOver["permits"];
}

/**
 * Hands over to a successor. Resolves when that answers visitors; rejects once it is gone, if it fails. The old server may
 * then be without its logs: `logs.isOpen`.
 */
export async function handOver(successor: Successor, old: OldServer): Promise<void> {
  const wait = old.clock.wait(SUCCEED_WITHIN_MS);
  void wait.over.then(() => successor.kill());
  try {
    await successor.prepared.promise;
    old.startNoMore();
    await giveLog(successor, old);
    await successor.logOpen.promise;
    for (const worker of old.workers()) worker.resume();
    await successor.listening.promise;
  } catch (cause) {
    successor.kill();
    await successor.ended;
    throw cause;
  } finally {
    wait.cancel();
  }
}

async function giveLog(successor: Successor, { clock, sockets, logs, workers, ...old }: OldServer): Promise<void> {
  const allHold = Promise.all([...workers()].map((worker) => worker.hold()));
  await within(clock, HOLD_WITHIN_MS, allHold, () => undefined);
  const readers = [...workers()].map(({ name }) => logs.readerOf(name));
  await logs.giveAway();
  old.onHandOver();
  successor.give({ sockets, readers, lock: logs.workersLock, permits: old.givePermits(), sessions: old.sessions() });
}
