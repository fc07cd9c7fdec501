import { expect, test } from "vitest";
import { LineToSupervisor } from "../../../server/supervisor/process-line.ts";

test("what a worker asks of a supervisor that has died fails at once, and so does what it asked before", async () => {
  let isAlive = true;
  const line = new LineToSupervisor(() => isAlive);
  const before = line.ask("news");
  isAlive = false;
  const dead = "the supervisor has died";
  await expect(line.survey("machine")).rejects.toThrow(dead);
  await expect(before).rejects.toThrow(dead);
});
