import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { tidemark } from "../../../cli/run-command.ts";
import { freePort } from "../../../suite/free-ports.ts";
import { ServerProcess } from "../running-server.ts";

describe("tidemark backup and tidemark restore", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let folder: string;
  /** The same at each start, for it is a part of the pages' keys. */
  let port: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await origin.comeUp();
    port = await freePort();
  });
  afterAll(async () => {
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  const run = (...args: readonly string[]) => tidemark({ args, cwd: folder });
  const start = async () => {
    const args = ["--origin", origin.url, "--listen", `127.0.0.1:${port}`, "--workers", "1", "--cache", "cache"];
    const server = new ServerProcess(folder, args, {
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: "a-token-of-this-test-0123456789-0123456789",
    });
    return { server, address: await server.address() };
  };
  const ask = async (address: URL) => {
    const answer = await fetch(new URL("/page", address));
    return `${await answer.text()} ${answer.headers.get("x-cache")}`;
  };
  const publish = (body: string) => origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body });
  const purge = async (address: URL) => {
    const headers = { authorization: "Bearer a-token-of-this-test-0123456789-0123456789" };
    const answer = await fetch(new URL("/page", address), { method: "PURGE", headers });
    return (await answer.json()) as { seq: number; logId: string };
  };

  test("a copy is made while the server runs, and once it is restored no page from before is used", async () => {
    const first = await start();
    publish("v1");
    await ask(first.address);
    const before = await purge(first.address);
    expect((await run("backup", "--cache", "cache", "copy.sqlite")).stdout).toMatch(
      /^copied {5}copy\.sqlite: 1 purge, [\d.]+ kB\n$/,
    );
    // This purge is not in the copy. Its page is stored under a number that the restored log gives to another purge.
    publish("v2");
    await purge(first.address);
    expect(await ask(first.address)).toBe("v2 MISS");
    await first.server.stop();

    const control = await start();
    expect(await ask(control.address)).toBe("v2 HIT"); // a restart alone keeps it
    await control.server.stop();

    publish("v3");
    expect((await run("restore", "--cache", "cache", "copy.sqlite")).stdout).toContain(
      "restored   copy.sqlite: 1 purge.",
    );
    const restored = await start();
    expect(await ask(restored.address)).toBe("v3 MISS");
    expect(await ask(restored.address)).toBe("v3 HIT");
    const after = await purge(restored.address);
    expect(after).toMatchObject({ seq: 2 });
    expect(after.logId).not.toBe(before.logId);
    await restored.server.stop();
  });

  test("a log is not restored under a running server", { tags: ["deep"] }, async () => {
    const { server } = await start();
    expect(await run("restore", "--cache", "cache", "copy.sqlite")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("Another tidemark serve is using"),
    });
    await server.stop();
  });

  test.for([
    { args: ["backup", "--cache", "empty", "copy"], says: /^tidemark: There is no purge log in .*\. Name .*\.\n$/ },
    { args: ["restore", "--cache", "empty", "gone"], says: /^tidemark: There is no .*gone\.\n$/ },
  ])("tidemark $args.0 says in one line what is missing, and writes nothing", async ({ args, says }) => {
    expect(await run(...args)).toMatchObject({ exit: 2, stderr: expect.stringMatching(says) });
    expect(readdirSync(folder)).not.toContain("empty");
  });
});
