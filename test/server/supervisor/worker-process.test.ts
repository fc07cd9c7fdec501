import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { ToWorker } from "../../../server/supervisor/process-messages.ts";
import { WorkerProcess } from "../../../server/supervisor/worker-process.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";

/** A process that answers as it is told to, and ends at `emit("exit")`. */
class Child extends EventEmitter {
  readonly pid = process.pid;
  readonly connected = true;
  readonly #onMessage: (message: ToWorker, child: Child) => void;

  constructor(onMessage: (message: ToWorker, child: Child) => void = () => undefined) {
    super();
    this.#onMessage = onMessage;
  }

  send(message: ToWorker): void {
    setImmediate(() => this.#onMessage(message, this));
  }
}

function workerOf(child: Child): WorkerProcess {
  const wait = () => ({ over: new Promise<never>(() => undefined), cancel: () => undefined });
  const surroundings = { clock: { now: () => 0, wait }, service: null, survey: async () => null, hangsAfterMs: 1 };
  const rest = { settings: null, logs: [], reader: "reader", lock: "lock", drainMs: 0 };
  return new WorkerProcess(
    () => child as unknown as ChildProcess,
    { kind: "start", name: "worker-1", ...rest },
    surroundings,
  );
}

test("the end of a process answers what it was asked before and is asked later", async () => {
  const child = new Child();
  const worker = workerOf(child);
  const ask = () => Promise.all([worker.survey([]), worker.survey([]), worker.reopen(), worker.hold()]);
  const before = ask();
  child.emit("exit", 1, null);
  expect(await before).toEqual([null, null, true, undefined]);
  expect(await ask()).toEqual([null, null, true, undefined]);
});

test("a process answers in turn, and nothing is held of its answers", async () => {
  let answered = 0;
  const child = new Child(({ kind }) => {
    if (kind === "survey") child.emit("message", { kind: "surveyed", said: Array(1000).fill(++answered) });
  });
  const worker = workerOf(child);
  const seen = async () => ((await worker.survey([])) as number[])[0];
  expect(await Promise.all([seen(), seen(), seen()])).toEqual([1, 2, 3]);
  const usedAtFirst = usedHeapBytes();
  for (let asked = 0; asked < 2000; asked++) await worker.survey([]);
  expect(usedHeapBytes() - usedAtFirst).toBeLessThan(4_000_000);
});
