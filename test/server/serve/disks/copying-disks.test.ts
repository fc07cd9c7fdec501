import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { until } from "../../../suite/until.ts";
import { ServerProcess } from "../running-server.ts";

const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
const disk = join(folder, "disk");
const command = (name: string, ...args: readonly string[]) => spawnSync(name, args).status === 0;
const isMounted = mountBtrfs();
const NOT_RUN = "disks that copy on write are SKIPPED, because btrfs cannot be mounted here";
if (!isMounted) process.stdout.write(`${NOT_RUN}\n`);

const FILLERS = [1 << 20, 4096];
const TOKEN = "a-token-of-this-test-0123456789-0123456789";

function mountBtrfs(): boolean {
  const image = join(folder, "image");
  writeFileSync(image, "");
  truncateSync(image, 128 * 1024 * 1024);
  mkdirSync(disk);
  return command("mkfs.btrfs", "-q", image) && command("mount", "-o", "loop", image, disk);
}

/** Another program writes until there is no room in the folder of a server. */
function fill(inFolder: string): void {
  for (const bytes of FILLERS) {
    let isFull = false;
    while (!isFull) {
      try {
        appendFileSync(join(inFolder, `filler-${bytes}`), Buffer.alloc(bytes, "x"));
      } catch {
        isFull = true;
      }
    }
    command("sync", "-f", disk);
  }
}

function empty(inFolder: string): void {
  for (const bytes of FILLERS) rmSync(join(inFolder, `filler-${bytes}`), { force: true });
  command("sync", "-f", disk);
}

afterAll(() => {
  if (isMounted) command("umount", "-l", disk);
  rmSync(folder, { recursive: true });
});

describe.skipIf(!isMounted)(isMounted ? "tidemark serve on a disk that copies on write:" : NOT_RUN, () => {
  const start = async (cache: string) => {
    const origin = new ScriptedOrigin(() => Date.now());
    await origin.comeUp();
    origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "page" });
    const site = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "1", "--cache", cache];
    const server = new ServerProcess(folder, site, { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
    onTestFinished(async () => {
      server.child.kill("SIGKILL"); // if it has not stopped
      await origin.goDown();
    });
    const address = await server.address();
    const page = async (query = "") => (await fetch(new URL(`/page${query}`, address))).text();
    const purge = async () => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      return (await fetch(new URL("/other", address), { method: "PURGE", headers })).status;
    };
    return { server, page, purge };
  };

  test("while it is full, purges are refused, pages are served, and the server stops as it is told", {
    tags: ["deep"],
    timeout: 60_000,
  }, async () => {
    const { server, page, purge } = await start(disk);
    expect(await purge()).toBe(200);
    expect(await page()).toBe("page");
    fill(disk);
    expect(await purge()).toBe(503);
    expect(await page()).toBe("page");
    expect(await server.stop()).toBe(0);
    empty(disk);
  });

  test("while its quota is used up, purges are refused, pages are served, and the server starts again", {
    timeout: 60_000,
  }, async () => {
    const cache = join(disk, "cache");
    const isLimited = [
      ["quota", "enable", disk],
      ["subvolume", "create", cache],
      ["qgroup", "limit", "30M", cache],
    ].every((args) => command("btrfs", ...args));
    expect(isLimited).toBe(true);
    const first = await start(cache);
    expect(await first.purge()).toBe(200);
    expect(await first.page()).toBe("page");
    fill(cache);
    expect(await first.purge()).toBe(503);
    await first.server.prints(/the purge log refuses purges: .*: the disk quota is used up/);
    expect(await first.page()).toBe("page");
    await first.page("?another");
    await first.server.prints(/The cache in \S+ cannot be used \(EDQUOT: the disk quota is used up\)/);
    expect(await first.server.stop()).toBe(0);
    const next = await start(cache);
    await next.server.prints(/: the disk quota is used up .*Until it can be written again/);
    expect(await next.page()).toBe("page");
    expect(await next.purge()).toBe(503);
    empty(cache);
    await until(async () => (await next.purge()) === 200);
    expect(await next.server.stop()).toBe(0);
  });
});
