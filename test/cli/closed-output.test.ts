import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { MAIN } from "../server/serve/running-server.ts";

test("a reader that stops early, like head, is not a failure", async () => {
  const child = spawn(process.execPath, [MAIN, "purge", "--help"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect(said).toBe("");
  expect(code).toBe(0);
});
