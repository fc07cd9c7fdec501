import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { thirdPartiesText } from "../../release/packages/third-parties.ts";
import { freePort } from "../suite/free-ports.ts";
import { until } from "../suite/until.ts";
import { builtRelease, PLAIN, succeed } from "./built-release.ts";

const TOKEN = "a-token-of-this-test-0123456789-0123456789";

describe("the archive for Linux", { tags: ["deep"], timeout: 600_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  let folder: string;
  let archive: string;
  let tidemark: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const release = await builtRelease(PLAIN);
    archive = join(release, readdirSync(release).find((file) => file.endsWith("-linux-x64.tar.gz"))!);
    await succeed("tar", ["--extract", "--file", archive, "--directory", folder]);
    tidemark = join(folder, readdirSync(folder)[0]!, "bin/tidemark");
    await origin.comeUp();
    origin.reply("/page", { fields: { "cache-control": "max-age=3600", "cache-tag": "page" }, body: "page" });
  }, 600_000);
  afterAll(async () => {
    await origin.goDown();
    rmSync(folder, { recursive: true });
  });

  /** In an environment in which no other program can be found. */
  function call(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    return spawnSync(tidemark, args, { cwd: folder, env: { PATH: "", NO_COLOR: "1", ...more }, encoding: "utf8" });
  }

  test("takes less than 60 MB, and less than 140 MB when it is unpacked", async () => {
    const unpacked = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => statSync(join(parentPath, name)).size);
    expect(statSync(archive).size).toBeLessThan(60e6);
    expect(unpacked.reduce((sum, size) => sum + size)).toBeLessThan(140e6);
  });

  test("knows its version without any other program, even through a link if there is a readlink", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(call(["--version"])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
    await succeed("ln", ["--symbolic", tidemark, join(folder, "linked")]);
    expect(await succeed(join(folder, "linked"), ["--version"])).toBe(`${version}\n`);
  });

  test("says which commands for development it cannot run, and what can", () => {
    for (const [args, peers] of [
      [["dev"], "miniflare, esbuild"],
      [["check", "--config", "wrangler.toml"], "miniflare, esbuild, wrangler"],
    ] as const) {
      const { status, stderr } = call(args);
      expect(stderr).toContain(`tidemark ${args[0]} needs ${peers}, which this archive does not contain.`);
      expect(stderr).toContain("npm install --save-dev tidemark@");
      expect(status).toBe(2);
    }
  });

  test("serves by an owner's config in TypeScript, without node_modules: MISS, HIT, purge, MISS", async () => {
    const port = await freePort();
    const config = `import { defineSite } from "tidemark/worker";
      const origin: string = ${JSON.stringify(origin.url)};
      export default defineSite({ origin, routes: [{ match: "/page", tags: ["of-the-route"] }] });\n`;
    writeFileSync(join(folder, "tidemark.config.ts"), config);
    expect(call(["check"])).toMatchObject({ status: 0, stdout: expect.stringContaining("1 route") });

    const environment = { TIDEMARK_TOKEN: TOKEN, TIDEMARK_ENDPOINT: `http://127.0.0.1:${port}` };
    const server = spawn(tidemark, ["serve", "--listen", `127.0.0.1:${port}`, "--workers", "2"], {
      cwd: folder,
      env: { PATH: "", NO_COLOR: "1", ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await prints(server.stdout, /serves http/);
      const ask = async () => {
        const response = await fetch(`http://127.0.0.1:${port}/page`);
        expect(await response.text()).toBe("page");
        return response.headers.get("x-cache");
      };
      expect([await ask(), await ask()]).toEqual(["MISS", "HIT"]);
      expect(call(["purge", "--tag", "of-the-route"], environment)).toMatchObject({ status: 0 });
      expect([await ask(), await ask()]).toEqual(["MISS", "HIT"]);
      expect(call(["stats"], environment)).toMatchObject({ status: 0 });
    } finally {
      const closed = once(server, "close");
      server.kill();
      expect(await closed).toEqual([0, null]);
    }
  });

  test("is upgraded by a link to another folder, and then runs on the Node there", async () => {
    const [first, second, current] = ["opt/0.1.0", "opt/0.2.0", "opt/current"].map((name) => join(folder, name));
    mkdirSync(join(folder, "opt"));
    for (const version of [first!, second!]) await succeed("cp", ["-al", join(tidemark, "../.."), version]);
    await succeed("ln", ["--symbolic", "0.1.0", current!]);
    const pidFile = join(folder, "pid");
    const server = spawn(
      join(current!, "bin/tidemark"),
      ["serve", "--origin", origin.url, "--listen", "127.0.0.1:0", "--cache", "upgraded", "--pid-file", pidFile],
      { cwd: folder, env: { PATH: "", NO_COLOR: "1", TIDEMARK_HOSTS: "*" }, stdio: ["ignore", "pipe", "inherit"] },
    );
    const closed = once(server, "close");
    const pid = () => Number(readFileSync(pidFile, "utf8"));
    try {
      await prints(server.stdout, /serves http/);
      const before = pid();
      await succeed("ln", ["-sfn", "0.2.0", current!]);
      process.kill(before, "SIGUSR2");
      await until(() => pid() > 0 && pid() !== before);
      expect(readlinkSync(`/proc/${pid()}/exe`)).toBe(join(second!, "bin/node"));
    } finally {
      existsSync(pidFile) ? process.kill(pid()) : server.kill();
      await closed;
    }
  });

  test("contains the libraries for a shared log and for certificates by ACME", async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const says = async (text: RegExp, ...args: readonly string[]) => {
      const server = spawn(tidemark, ["serve", "--origin", origin.url, "--listen", "127.0.0.1:0", ...args], {
        cwd: folder,
        env: { PATH: "", NO_COLOR: "1", TIDEMARK_HOSTS: "www.example.com" },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const closed = once(server, "close");
      try {
        await prints(server.stderr, text);
      } finally {
        server.kill();
        await closed;
      }
    };
    await says(/ECONNREFUSED/, "--log", `postgres://somebody@${nobody}/log`, "--cache", "shared");
    const authority = ["--acme", "you@example.com", "--acme-directory", `https://${nobody}/directory`];
    await says(/cannot be used: .*ECONNREFUSED/, ...authority, "--listen-tls", "127.0.0.1:0", "--cache", "acme");
  });

  test("has the licence of each package that is bundled, and of Node", async () => {
    const root = join(tidemark, "../..");
    const thirdParties = readFileSync(join(root, "THIRD-PARTY.txt"), "utf8");
    const release = await builtRelease(PLAIN);
    const bill = JSON.parse(
      readFileSync(join(release, readdirSync(release).find((file) => file.endsWith(".cdx.json"))!), "utf8"),
    ) as { components: { name: string; version: string; purl: string }[] };
    const ours = bill.components.filter(({ purl }) => !purl.startsWith("pkg:deb/"));
    expect(ours.map(({ name }) => name)).toEqual(expect.arrayContaining(["undici", "zod", "pg", "commander", "node"]));
    expect(ours.filter(({ name, version }) => !thirdParties.includes(`${name} ${version} (`))).toEqual([]);
    expect(thirdParties).toContain("Copyright Node.js contributors");
    expect(thirdParties).toContain("llhttp");
  });
});

test("a package without a licence text is named with its licence's name", () => {
  const node = { name: "node", version: "24.0.0", licence: "MIT", text: "The terms\r\nof Node\n" };
  const text = thirdPartiesText([{ name: "a", version: "1.0.0", licence: "ISC", text: null }, node]);
  expect(text).toContain("a 1.0.0 (ISC)\n\nIts package has no text of the licence. It says: ISC.\n");
  expect(text).toContain("node 24.0.0 (MIT)\n\nThe terms\nof Node\n");
});

async function prints(stream: Readable, text: RegExp): Promise<void> {
  let printed = "";
  stream.setEncoding("utf8");
  for await (const piece of stream.iterator({ destroyOnReturn: false })) {
    printed += piece as string;
    if (text.test(printed)) return void stream.resume();
  }
  throw new Error(`the server ended and had printed: ${printed}`);
}
