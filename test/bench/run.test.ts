import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("A case that does not exist is refused, with the list of those that do", { tags: ["gate"] }, () => {
  const { status, stderr } = spawnSync(process.execPath, ["bench/run.ts", "nosuch"], { encoding: "utf8" });
  expect(stderr).toMatch(/^error: unknown command 'nosuch'$/m);
  expect([...stderr.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name)).toEqual([
    ...["hit", "rivals", "flood", "downloads", "endurance", "purges", "sessions", "quiet", "log-load", "start", "help"],
  ]);
  expect(status).toBe(1);
});
