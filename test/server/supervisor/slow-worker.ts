import type { RunningWorker, WorkerStart } from "../../../server/program/worker-program.ts";

/**
 * A worker that listens once it is told that a site is admitted, reads its logs before it ends, and tells the process that
 * has started it what it does, and whether what it held until then is freed.
 */
export function startWorker({ logs }: WorkerStart): RunningWorker {
  const admitted = Promise.withResolvers<void>();
  let held: object | null = {};
  const heldBefore = new WeakRef(held);
  const tell = (kind: string) =>
    new Promise<void>((resolve) => process.send!({ kind }, undefined, undefined, () => resolve()));
  return {
    learn: async () => true,
    listen: async () => {
      await tell("opens");
      await admitted.promise;
      await tell("opened");
    },
    admit: () => admitted.resolve(),
    hurry: () => void tell("hurries"),
    reopen: async () => {
      await tell("reopens");
      return true;
    },
    drain: async () => {
      held = null;
      await tell("drains");
      await tell(heldBefore.deref() === undefined ? "has freed" : "keeps");
      for (const log of logs.values()) await log.list(null, 1);
    },
  };
}
