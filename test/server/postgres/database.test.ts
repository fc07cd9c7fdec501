import { expect, test } from "vitest";
import { Database } from "../../../server/postgres/database.ts";
import { systemClock } from "../../../server/system-clock.ts";

test("queries that fail together lengthen the pause before the next attempt once", async () => {
  let elapsed = 0;
  const clock = { ...systemClock, elapsed: () => elapsed };
  const database = await Database.over({ url: "postgres://127.0.0.1:1/log", clock, random: () => 1 });
  const failure = () => database.query("SELECT 1").catch((cause: unknown) => cause);
  await Promise.all([failure(), failure(), failure(), failure()]);
  const first = await failure();
  elapsed = 99;
  expect(await failure()).toBe(first); // at once, and nothing is tried
  elapsed = 100;
  const second = await failure();
  expect(second).not.toBe(first);
  elapsed = 299;
  expect(await failure()).toBe(second);
  elapsed = 300;
  expect(await failure()).not.toBe(second);
  await database.close();
});
