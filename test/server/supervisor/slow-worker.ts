import type { RunningWorker, WorkerStart } from "../../../server/program/worker-program.ts";

/**
 * A worker that listens once it is told that a site is admitted, reads its logs before it ends, and tells the process that
 * has started it what it does.
 */
export function startWorker({ logs }: WorkerStart): RunningWorker {
  const admitted = Promise.withResolvers<void>();
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
    reopen: async () => {
      await tell("reopens");
      return true;
    },
    drain: async () => {
      await tell("drains");
      for (const log of logs.values()) await log.list(null, 1);
    },
  };
}
