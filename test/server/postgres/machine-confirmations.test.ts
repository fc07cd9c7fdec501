import { expect, test } from "vitest";
import { MachineConfirmations } from "../../../server/postgres/machine-confirmations.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";

test("a machine whose notice was lost counts once the log has been asked again, after 100 ms", async () => {
  const clock = new Scheduler(1, 0);
  let unconfirmed = new Map([["b", "web-2"]]);
  const confirmations = new MachineConfirmations(
    async () => unconfirmed,
    clock,
    () => expect.fail("it was in time"),
  );
  let outcome: boolean | undefined;
  void confirmations.confirmed({ logId: "log", seq: 1 }).then((isConfirmed) => {
    outcome = isConfirmed;
  });
  await clock.advance(99);
  unconfirmed = new Map();
  await clock.advance(0);
  expect(outcome).toBeUndefined();
  await clock.advance(1);
  expect(outcome).toBe(true);
});

test("nothing is held of machines that have told nothing for a minute, however many there were", async () => {
  const clock = new Scheduler(1, 0);
  const nobody = async () => new Map<string, string>();
  const confirmations = new MachineConfirmations(nobody, clock, () => expect.fail("there is nobody"));
  const note = async (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      if (at % 1000 === 0) await clock.advance(60_000);
      confirmations.note(`machine ${at}`, { logId: "log", seq: at });
    }
  };
  await note(0, 5_000);
  const usedAtFirst = usedHeapBytes();
  await note(5_000, 50_000);
  expect(usedHeapBytes() - usedAtFirst).toBeLessThan(1_000_000);
});

test("a machine that the log no longer names when its time is over has confirmed, and is not named as late", async () => {
  const clock = new Scheduler(1, 0);
  const answers = [new Map([["b", "web-2"]]), new Map<string, string>()];
  const confirmations = new MachineConfirmations(
    async () => {
      const answer = answers.shift()!;
      if (answers.length === 0) await clock.wait(100).over;
      return answer;
    },
    clock,
    () => expect.fail("it was in time"),
    150,
  );
  let outcome: boolean | undefined;
  void confirmations.confirmed({ logId: "log", seq: 1 }).then((isConfirmed) => {
    outcome = isConfirmed;
  });
  await clock.advance(199);
  expect(outcome).toBeUndefined();
  await clock.advance(1);
  expect(outcome).toBe(true);
});

test("a machine that the log names only when the time of others is over is named as late", async () => {
  const clock = new Scheduler(1, 0);
  const answers = [new Map([["b", "web-2"]]), new Map([["c", "web-3"]])];
  const late: string[] = [];
  const confirmations = new MachineConfirmations(
    async () => {
      const answer = answers.shift()!;
      if (answers.length === 0) await clock.wait(100).over;
      return answer;
    },
    clock,
    (names) => late.push(...names),
    150,
  );
  const confirmed = confirmations.confirmed({ logId: "log", seq: 1 });
  await clock.advance(200);
  expect([await confirmed, late]).toEqual([false, ["web-3"]]);
});
