import { expect, test } from "vitest";
import { MachineConfirmations } from "../../../server/postgres/machine-confirmations.ts";
import { Scheduler } from "../../engine/scheduler.ts";

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
