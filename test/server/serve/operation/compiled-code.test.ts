import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { ownPackage } from "../../../../package/own-package.ts";
import { ServerProcess } from "../running-server.ts";

describe("code that a server has compiled", { tags: ["gate"], timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let folder: string;
  let code: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    code = join(folder, "cache/code");
    await origin.comeUp();
    origin.reply("/page", { fields: { "cache-control": "no-store" }, body: "page" });
  });
  afterAll(async () => {
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  /** A server that is started, asked, and stopped. The tests' own variable would come first. */
  async function serveOnce(...args: readonly string[]): Promise<string> {
    const all = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "1", "--cache", "cache", ...args];
    const server = new ServerProcess(folder, all, { TIDEMARK_HOSTS: "*", NODE_COMPILE_CACHE: undefined! });
    try {
      return await (await fetch(new URL("/page", await server.address()))).text();
    } finally {
      await server.stop();
    }
  }

  const files = () =>
    readdirSync(code, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));

  test("is kept below the folder of the cache once that is there, and used whether it is whole or not", async () => {
    expect(await serveOnce()).toBe("page");
    expect(readdirSync(join(folder, "cache"))).not.toContain("code");
    mkdirSync(join(code, "0.0.1"), { recursive: true });
    expect(await serveOnce()).toBe("page");
    expect(readdirSync(code)).toEqual([ownPackage.version]); // that of another version is gone
    expect(files().length).toBeGreaterThan(0);
    for (const file of files()) writeFileSync(file, "no code");
    expect(await serveOnce()).toBe("page");
  });

  test("is not taken from a folder in which others can write", async () => {
    rmSync(code, { recursive: true });
    mkdirSync(join(code, ownPackage.version), { recursive: true });
    chmodSync(join(code, ownPackage.version), 0o777);
    expect(await serveOnce()).toBe("page");
    expect(files()).toEqual([]);
  });

  test("is not needed: a server starts where its folder cannot be made", async () => {
    rmSync(code, { recursive: true });
    writeFileSync(code, "");
    expect(await serveOnce()).toBe("page");
  });
});
