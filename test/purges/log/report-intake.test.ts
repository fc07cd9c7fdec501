import { expect, test } from "vitest";
import { ReportIntake } from "../../../worker/purges/log/report-intake.ts";
import { Scheduler } from "../../engine/scheduler.ts";

/** An intake that holds reports, and a ledger that can fail. */
function holding() {
  const scheduler = new Scheduler(1, 0);
  const world = { fails: false, held: [] as string[], stored: [] as string[], told: [] as string[] };
  const hold = (report: string) => {
    if (report === "malformed") throw new Error(report);
    world.held.push(report);
  };
  const write = () => {
    const held = world.held.splice(0);
    if (world.fails) throw new Error("full");
    world.stored.push(...held);
  };
  const intake = new ReportIntake(hold, (cause) => world.told.push(String(cause)), { clock: scheduler, write });
  return Object.assign(world, { scheduler, intake });
}

test("reports are held until half a minute after the first, or until somebody looks", async () => {
  const { intake, scheduler, stored } = holding();
  intake.take("a");
  await scheduler.advance(29_999);
  intake.take("b");
  expect(stored).toEqual([]);
  await scheduler.advance(1);
  expect(stored).toEqual(["a", "b"]);
  intake.take("c");
  intake.flush();
  expect(stored).toEqual(["a", "b", "c"]);
  await scheduler.advance(10_000);
  intake.take("d");
  await scheduler.advance(20_000); // the time of the third
  expect(stored).toEqual(["a", "b", "c", "d"]);
});

test("reports that could not be written are told of once, and from then on each is refused until one is stored", async () => {
  const world = holding();
  const { intake, scheduler, stored, told } = world;
  world.fails = true;
  intake.take("a");
  await scheduler.advance(30_000);
  expect(told).toEqual(["Error: full"]);
  expect(() => intake.take("b")).toThrow("full");
  expect(intake.outcomeOf("b")).toEqual({ reportFailed: true });
  intake.flush();
  expect([told, stored]).toEqual([["Error: full"], []]);
  world.fails = false;
  expect(intake.outcomeOf("b")).toEqual({});
  expect([told, stored]).toEqual([["Error: full", "null"], ["b"]]);
  intake.take("c");
  expect(stored).toEqual(["b"]);
});

test("a malformed report is refused at once, and those that are held are stored with the next", () => {
  const { intake, stored, told } = holding();
  intake.take("a");
  expect(() => intake.take("malformed")).toThrow("malformed");
  intake.take("b");
  expect([stored, told]).toEqual([
    ["a", "b"],
    ["Error: malformed", "null"],
  ]);
});
