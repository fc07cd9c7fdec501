import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { handOver, type OldServer } from "../../../server/supervisor/hand-over.ts";
import { Successor } from "../../../server/supervisor/upgrade.ts";
import type { WorkerProcess } from "../../../server/supervisor/worker-process.ts";
import { Scheduler } from "../../engine/scheduler.ts";

/** The process of a new server, which says what the test lets it say. */
class NewServer extends EventEmitter {
  readonly connected = true;
  readonly told: string[] = [];

  send({ kind }: { readonly kind: string }): void {
    this.told.push(kind);
  }

  kill(): void {
    this.emit("exit", null, "SIGKILL");
  }

  says(kind: string): void {
    this.emit("message", { kind });
  }
}

/** An old server with one worker, whose calls of the log end when the test says so. */
function begin() {
  const clock = new Scheduler(1, 0);
  const process = new NewServer();
  const ignore = () => undefined;
  const successor = new Successor(process as unknown as ChildProcess, {
    reopen: async () => true,
    finishWithin: ignore,
    hearOfPermits: ignore,
  });
  const held = Promise.withResolvers<void>();
  const resumed: string[] = [];
  const worker = { name: "one", hold: () => held.promise, resume: () => void resumed.push("one") };
  const old: OldServer = {
    clock,
    sockets: [],
    logs: { readerOf: (name: string) => name, giveAway: async () => undefined, workersLock: "lock" } as never,
    workers: () => [worker as unknown as WorkerProcess],
    startNoMore: ignore,
    onHandOver: ignore,
    sessions: ignore,
    givePermits: ignore,
  };
  return { clock, process, held, resumed, done: handOver(successor, old) };
}

test("a new server gets the log once no call of it is under way", async () => {
  const { clock, process, held, resumed, done } = begin();
  process.says("prepared");
  await clock.advance(4_999);
  expect(process.told).toEqual([]);
  held.resolve();
  await clock.advance(0);
  expect(process.told).toEqual(["log"]);
  process.says("log-open");
  process.says("listening");
  await done;
  expect(resumed).toEqual(["one"]);
});

test("a new server that answers visitors is not ended, for however long it does so", async () => {
  const { clock, process, held, done } = begin();
  let hasEnded = false;
  process.on("exit", () => {
    hasEnded = true;
  });
  held.resolve();
  for (const step of ["prepared", "log-open", "listening"]) {
    process.says(step);
    await clock.advance(0);
  }
  await done;
  await clock.advance(24 * 3_600_000);
  expect(hasEnded).toBe(false);
});

test("a worker that hangs holds up an upgrade for five seconds", async () => {
  const { clock, process, done } = begin();
  process.says("prepared");
  await clock.advance(5_000);
  expect(process.told).toEqual(["log"]);
  process.says("log-open");
  process.says("listening");
  await done;
});

test.each([[[]], [["prepared"]], [["prepared", "log-open"]]])(
  "a new server that says nothing after %j is ended after two minutes",
  async (steps) => {
    const { clock, process, held, done } = begin();
    held.resolve();
    let failure: unknown;
    void done.catch((cause: unknown) => {
      failure = cause;
    });
    for (const step of steps) {
      process.says(step);
      await clock.advance(0);
    }
    await clock.advance(119_999);
    expect(failure).toBeUndefined();
    await clock.advance(1);
    expect(failure).toEqual(new Error("the new server exited: SIGKILL"));
  },
);
