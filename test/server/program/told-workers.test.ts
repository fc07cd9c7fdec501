import { beforeEach, describe, expect, test } from "vitest";
import { CONFIRM_WITHIN_MS } from "../../../server/log/log-readers.ts";
import { ToldWorkers } from "../../../server/program/told-workers.ts";
import type { AppendRequest, AppendResult, PurgeLogClient } from "../../../worker/purges/log/log-contract.ts";
import { Scheduler } from "../../engine/scheduler.ts";

/** An append of this mode. The log under test reads no more of it. */
const purgeBy = (mode: AppendRequest["mode"]) => ({ mode }) as AppendRequest;

describe("the answer to an unsafe request", () => {
  let scheduler: Scheduler;
  let workers: ToldWorkers;
  let log: PurgeLogClient;
  let confirmed: PromiseWithResolvers<AppendResult>;
  let sent: string[];
  const send = (method: string) =>
    void Promise.resolve(workers.hold(method, Promise.resolve(method))).then((answer) => sent.push(answer));

  beforeEach(() => {
    scheduler = new Scheduler(1, 100_000_000);
    workers = new ToldWorkers(scheduler);
    confirmed = Promise.withResolvers();
    sent = [];
    log = workers.noting({ read: () => Promise.reject(new Error("unused")), append: () => confirmed.promise });
  });

  test("waits until the other workers know what it has invalidated; one to a safe request does not", async () => {
    void log.append(purgeBy("invalidate"));
    send("POST");
    send("GET");
    await scheduler.advance(CONFIRM_WITHIN_MS - 1);
    expect(sent).toEqual(["GET"]);
    confirmed.resolve({} as AppendResult);
    await scheduler.advance(0);
    expect(sent).toEqual(["GET", "POST"]);
  });

  test("waits no longer than a receipt for a worker that does not confirm", async () => {
    void log.append(purgeBy("invalidate"));
    send("DELETE");
    await scheduler.advance(CONFIRM_WITHIN_MS - 1);
    expect(sent).toEqual([]);
    await scheduler.advance(1);
    expect(sent).toEqual(["DELETE"]);
  });

  test("is sent at once if the log cannot be reached", async () => {
    const appended = log.append(purgeBy("invalidate"));
    send("POST");
    confirmed.reject(new Error("the log cannot be reached"));
    await expect(appended).rejects.toThrow("the log cannot be reached");
    await scheduler.advance(0);
    expect(sent).toEqual(["POST"]);
  });

  test("waits for no purge by a token, whose own answer is its receipt", async () => {
    void log.append(purgeBy("hard"));
    send("POST");
    await scheduler.advance(0);
    expect(sent).toEqual(["POST"]);
  });
});
