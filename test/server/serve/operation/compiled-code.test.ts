import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { ownPackage } from "../../../../package/own-package.ts";
import { ServerProcess } from "../running-server.ts";

/** A module that is loaded after the code is kept. */
const OTHER = new URL("../../../../server/startup/size.ts", import.meta.url).href;

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

  /** A process that keeps its code as a server does, and ends. */
  function keepCode(): void {
    const module = new URL("../../../../server/compiled-code.ts", import.meta.url).href;
    const script = `import { keepCompiledCode } from "${module}"; keepCompiledCode("cache"); await import("${OTHER}");`;
    const { PATH } = process.env;
    const args = ["--input-type=module", "--eval", script];
    execFileSync(process.execPath, args, { cwd: folder, env: { PATH } });
  }

  test("is not taken from a folder in which others can write", () => {
    rmSync(code, { recursive: true });
    const own = join(code, ownPackage.version);
    mkdirSync(own, { recursive: true });
    chmodSync(own, 0o777);
    keepCode();
    expect(files()).toEqual([]);
    chmodSync(own, 0o755);
    keepCode();
    expect(files()).not.toEqual([]);
  });

  test("is not needed: a server starts where its folder cannot be made", async () => {
    rmSync(code, { recursive: true });
    writeFileSync(code, "");
    expect(await serveOnce()).toBe("page");
  });
});
