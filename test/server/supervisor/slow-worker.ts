import type { RunningWorker } from "../../../server/program/worker-program.ts";

/** A worker that listens once it is told that a site is admitted, and tells the process that has started it what it does. */
export function startWorker(): RunningWorker {
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
    drain: () => tell("drains"),
  };
}
