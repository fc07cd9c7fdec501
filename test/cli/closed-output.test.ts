import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { purgeRecord, receiptBody, startFakeEdge } from "../sdk/fake-edge.ts";
import { MAIN } from "../server/serve/running-server.ts";

test("a reader that stops early, like head, is not a failure", async () => {
  const child = spawn(process.execPath, [MAIN, "purge", "--help"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect(said).toBe("");
  expect(code).toBe(0);
});

const FULL = "/dev/full";

describe.skipIf(!existsSync(FULL))("an output that cannot be written is one line on stderr and exit code 5:", () => {
  const LINE =
    "tidemark: the output could not be written: no space left on device (ENOSPC). What the command has done stays done.\n";

  async function withFullOutput(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    await using full = await open(FULL, "w");
    const child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ["ignore", full.fd, "pipe"],
      env: { NO_COLOR: "1", ...env },
    });
    const [stderr, [exit]] = await Promise.all([text(child.stderr!), once(child, "close")]);
    return { exit, stderr };
  }

  test("a help text", async () => {
    expect(await withFullOutput(["purge", "--help"])).toEqual({ exit: 5, stderr: LINE });
  });

  test("the receipt of a purge, which has happened and is waited for", async () => {
    await using edge = await startFakeEdge({ json: { ...receiptBody, settlesInMs: 10 } });
    const env = { TIDEMARK_ENDPOINT: edge.endpoint, TIDEMARK_TOKEN: "a-token" };
    const { exit, stderr } = await withFullOutput(["purge", "--tag", "x", "--wait"], env);
    expect({ exit, stderr }).toEqual({ exit: 5, stderr: expect.stringContaining(LINE) });
    expect(stderr).toContain("Settled.");
    expect(edge.requests).toHaveLength(1);
  });

  test("purges that are followed, which ends", async () => {
    await using edge = await startFakeEdge({ json: { purges: [purgeRecord], next: null } });
    const env = { TIDEMARK_ENDPOINT: edge.endpoint, TIDEMARK_TOKEN: "a-token" };
    expect(await withFullOutput(["purges", "--follow"], env)).toEqual({ exit: 5, stderr: LINE });
  });
});
